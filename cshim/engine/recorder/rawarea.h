/* SPDX-License-Identifier: MIT
 *
 * Areas that were left in a file (CSTRACE_FILE): read by the same stages as a
 * living program's, into a trace.
 */
#ifndef ENGINE_RAWAREA_H
#define ENGINE_RAWAREA_H

#include "base/error.h"

/* Does fd begin as an area does? */
int rawarea_is(int fd);

/* fd stays the caller's. */
int rawarea_load(int fd, const char *path, struct cst_trace **out,
		 struct cst_error *err);

#endif
