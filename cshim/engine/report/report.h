/* SPDX-License-Identifier: MIT
 *
 * Reports: a row for each function, or place of call, with how often it was
 * called and how long it took.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "trace/loader.h"

/* Passes the report on the choice's calls to write.  Returns the number of
 * rows, or a negative status. */
int64_t report_write(const struct cst_trace *t, const struct cst_report *report,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err);

#endif
