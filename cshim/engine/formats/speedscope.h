/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as speedscope's own JSON: an evented profile for each lane.
 */
#ifndef ENGINE_SPEEDSCOPE_H
#define ENGINE_SPEEDSCOPE_H

#include "trace/loader.h"

/* Passes the file to write.  Ignores last and around of the choice.  Returns
 * the number of calls, or a negative status. */
int64_t speedscope_write(const struct cst_trace *t,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err);

#endif
