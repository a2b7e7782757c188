/* SPDX-License-Identifier: MIT
 *
 * The report of a trace's samples.
 */
#ifndef ENGINE_SAMPLE_REPORT_H
#define ENGINE_SAMPLE_REPORT_H

#include "cstrace/engine.h"

/* Writes a row for each function, or thread, that samples were taken in; as
 * cst_trace_report(). */
int64_t sample_report_write(const struct cst_trace *t,
			    const struct cst_report *report,
			    const struct cst_choice *choice, cst_write_fn write,
			    void *arg, struct cst_error *err);

#endif
