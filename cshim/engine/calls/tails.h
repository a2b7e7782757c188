/* SPDX-License-Identifier: MIT
 *
 * Tail calls: a call that ends by a jump to another function stays open as long
 * as that one is, which lies below it.  Both have one frame.
 */
#ifndef ENGINE_TAILS_H
#define ENGINE_TAILS_H

#include "calls/find_lane.h"

/* Does the innermost call on s wait for what it jumped to; or is that over?  */
static inline int tails_is_top(const struct stack *s)
{
	return s->n_tails && s->tails[s->n_tails - 1].call + 1 == s->n;
}

/* The innermost call on s ended by a jump: it waits for the next record.
 * Returns 0 when out of memory. */
int tails_wait(struct stack *s, const struct frame *f);

/* Settles the call of t's stack that waits, if there is one, before a record is
 * taken.  Returns the call site + 1 of the entry that it is, if that is what
 * was jumped to: it is to be opened below the innermost call; else 0; or
 * TAILS_LATER: the record is to be taken when its line is known. */
static const uint32_t TAILS_LATER = UINT32_MAX;
uint32_t tails_take(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t number);

/* Ends the innermost calls on s whose tail call has returned, at `time`. */
void tails_end(struct callstack *c, struct thread *t, struct stack *s,
	       uint64_t time);

/* Ends the call on s that waits, if there is one: nothing comes. */
void tails_give_up(struct callstack *c, struct thread *t, struct stack *s);

/* Does the same on all stacks. */
void tails_give_up_all(struct callstack *c);

/* Notes that the innermost call on s is there for a tail call of it. */
int tails_note(struct stack *s);

#endif
