/* SPDX-License-Identifier: MIT
 *
 * Records that are no calls: longjmp, exceptions, forks and other marks of what
 * a thread does.
 */
#ifndef ENGINE_JUMPS_H
#define ENGINE_JUMPS_H

#include "calls/callstack.h"

struct frame;

/* Handles a record of that site number; the thread's last_time is set. */
void jumps_take(struct callstack *c, struct thread *t,
		const struct cst_record *r, uint32_t number);

/* Returns the stack that a frame of the thread with that stack pointer is on,
 * where the calls below it are unwound at `time`. */
struct stack *jumps_unwind_to(struct callstack *c, struct thread *t,
			      uint64_t sp, uint64_t time);

/* Returns whether it is a record of what the thread does only because the shim
 * calls what() of an exception. */
int jumps_is_quiet(struct thread *t, const struct cst_record *r,
		   uint32_t number);

/* Prepares an entry on s that is not for the fast path: where an exception was
 * caught, the place in the code shows which of that frame's inlined calls were
 * unwound. */
void jumps_settle(struct callstack *c, struct thread *t, struct stack *s,
		  const struct frame *f);

#endif
