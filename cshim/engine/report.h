/* SPDX-License-Identifier: MIT
 *
 * A row for each function: how often, how long.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "loader.h"

/* Only functions that match regex (NULL: all) get a row; the choice tells
 * which calls are seen at all. Returns the number of rows. */
int64_t report_write(const struct cst_trace *t, enum cst_sort sort,
		     uint32_t limit, const char *regex,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err);

#endif
