/* SPDX-License-Identifier: MIT
 *
 * The stack that a thread's signal handlers run on, if it has said where that
 * lies: all that is in there is of its lane, and nothing else is.
 */
#ifndef ENGINE_SIGSTACK_H
#define ENGINE_SIGSTACK_H

#include "calls/find_lane.h"

/* May a frame at cfa be on s? */
static inline int stack_may_hold(const struct stack *s, uint64_t cfa)
{
	return !s->extent.size || extent_holds(&s->extent, cfa);
}

/* The thread has this one from now on. */
void sigstack_set(struct thread *t, struct extent extent);

/* Its lane; NULL: nothing was seen on it. */
struct stack *sigstack_now(const struct callstack *c, struct thread *t);

/* Is the address on it? */
int sigstack_holds(const struct callstack *c, struct thread *t,
		   uint64_t address);

/* Its lane, made if need be.  NULL: no memory. */
struct stack *sigstack_make(struct callstack *c, struct thread *t,
			    uint64_t cfa);

/* The same, if the frame is on it.  NULL: it is not. */
struct stack *sigstack_of(struct callstack *c, struct thread *t,
			  const struct frame *f);

/* The thread is on an alternate stack, but the frame is not: back to what was
 * interrupted, as far as is known. */
void sigstack_left(struct thread *t, const struct frame *f);

#endif
