/* SPDX-License-Identifier: MIT
 *
 * A row for each function, or place of call: how often, how long.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "trace/loader.h"

/* The choice tells which calls are seen at all. Returns the number of rows. */
int64_t report_write(const struct cst_trace *t, const struct cst_report *report,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err);

#endif
