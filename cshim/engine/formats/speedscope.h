/* SPDX-License-Identifier: MIT
 *
 * A trace as speedscope's own JSON: an evented profile for each lane.
 */
#ifndef ENGINE_SPEEDSCOPE_H
#define ENGINE_SPEEDSCOPE_H

#include "trace/loader.h"

/* Returns the number of calls. last and around of the choice do not count. */
int64_t speedscope_write(const struct cst_trace *t,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err);

#endif
