/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as speedscope's own JSON: an evented profile for each lane.
 */
#ifndef ENGINE_SPEEDSCOPE_H
#define ENGINE_SPEEDSCOPE_H

#include "trace/loader.h"

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t speedscope_write(const struct cst_trace *t,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err);

#endif
