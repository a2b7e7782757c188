/* SPDX-License-Identifier: MIT
 *
 * Traces that can be read: made from a file, by path or open descriptor.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "base/error.h"

/* Reads the trace file fd into *out, which the caller frees with
 * cst_trace_free().  Owns fd from here on: it is closed with the trace, or on
 * failure.  path is how messages name the file; it is copied. */
int trace_open(int fd, const char *path, struct cst_trace **out,
	       struct cst_error *err);

/* Reports that gdb holds the program at the trace's end, so that the calls that
 * are open there lasted until it had stopped. */
void trace_set_stopped(struct cst_trace *t);

/* Sets in the trace's status the counters that only the recorder knows (losses,
 * waits, records, functions). */
void trace_set_status(struct cst_trace *t, const struct cst_status_report *s);

#endif
