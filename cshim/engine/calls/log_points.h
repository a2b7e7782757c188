/* SPDX-License-Identifier: MIT
 *
 * Logpoints that need no stop, at a call of theirs.
 */
#ifndef ENGINE_LOG_POINTS_H
#define ENGINE_LOG_POINTS_H

#include "calls/find_lane.h"

/* Writes the texts of the logpoints that are at the call that f has opened on
 * the thread's current stack. */
void log_points_hit(struct callstack *c, struct thread *t,
		    const struct frame *f);

#endif
