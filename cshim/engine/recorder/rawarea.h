/* SPDX-License-Identifier: MIT
 *
 * Areas that were left in a file (CSTRACE_FILE): read by the same stages as a
 * running program's, into a trace.
 */
#ifndef ENGINE_RAWAREA_H
#define ENGINE_RAWAREA_H

#include "base/error.h"

/* Returns whether fd begins as an area does. */
int rawarea_is(int fd);

/* Reads the area in fd, which stays the caller's, into a trace that the caller
 * frees with cst_trace_free(); path is for messages.  Returns 0 or a negative
 * status. */
int rawarea_load(int fd, const char *path, struct cst_trace **out,
		 struct cst_error *err);

#endif
