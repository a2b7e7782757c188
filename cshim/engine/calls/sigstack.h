/* SPDX-License-Identifier: MIT
 *
 * The stack that a thread's signal handlers run on, if the shim reported where
 * it lies: all frames in there are of its lane, and no others are.
 */
#ifndef ENGINE_SIGSTACK_H
#define ENGINE_SIGSTACK_H

#include "calls/find_lane.h"

/* Returns whether a frame at cfa may be on s. */
static inline int stack_may_hold(const struct stack *s, uint64_t cfa)
{
	return !s->extent.size || extent_holds(&s->extent, cfa);
}

/* Sets the thread's signal stack from now on. */
void sigstack_set(struct thread *t, struct extent extent);

/* Returns the stack of the calls on it, or NULL if there were none. */
struct stack *sigstack_now(const struct callstack *c, struct thread *t);

/* Returns whether the address is on the thread's signal stack. */
int sigstack_holds(const struct callstack *c, struct thread *t,
		   uint64_t address);

/* Returns the stack of the calls on it, made if there is none.  Returns NULL
 * when out of memory. */
struct stack *sigstack_make(struct callstack *c, struct thread *t,
			    uint64_t cfa);

/* Returns the stack of the calls on it if the frame is on it, else NULL. */
struct stack *sigstack_of(struct callstack *c, struct thread *t,
			  const struct frame *f);

/* Makes a thread go back to what was interrupted, as far as that is known, when
 * its current stack is the signal stack but the frame is not on it. */
void sigstack_left(struct thread *t, const struct frame *f);

#endif
