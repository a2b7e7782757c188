/* SPDX-License-Identifier: MIT
 *
 * A trace that can be read: made from a file, by path or open descriptor.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "base/error.h"

/* Take over fd (closed with the trace, or on failure). */
int trace_open_fd(int fd, struct cst_trace **out, struct cst_error *err);

/* Counters that only the recorder knew (losses, waits, records, functions):
 * put into the trace's status. */
void trace_set_status(struct cst_trace *t, const struct cst_status_report *s);

#endif
