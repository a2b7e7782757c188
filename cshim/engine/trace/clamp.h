/* SPDX-License-Identifier: MIT
 *
 * Calls as intervals that nest strictly, for readers that insist on it:
 * nothing ends before what it called, nor begins before what was before it.
 * Times rounded to nanoseconds, and damaged ones, may be off; they are trimmed
 * to what is around them.  The unit is the user's: what holds is that all
 * times have the same.
 */
#ifndef ENGINE_CLAMP_H
#define ENGINE_CLAMP_H

#include "trace/view.h"

struct nested {
	uint64_t end_ns;
	uint64_t free_ns; /* end of its last callee, or its start */
	uint32_t depth;
	uint32_t function;
	uint8_t end; /* enum call_end */
};

/* The open calls of one lane; zeroed: none. */
struct clamp {
	struct nested *calls;
	uint32_t n, cap;
	uint64_t free_ns; /* end of its last outermost call */
	/* To stay between what else would touch: one call's end and the next
	 * one's start, or the end of what called it.  Where there is no room
	 * they do touch. */
	uint32_t gap;
	/* What a call takes at least, where there is room: readers that make
	 * samples of calls do not show one that took no time. */
	uint32_t shortest;
};

void clamp_release(struct clamp *s);

/* Take away the innermost call, if it has ended before this one of the same
 * lane (NULL: the lane is over).  Valid until clamp_enter(); NULL: none has. */
static inline const struct nested *clamp_over(struct clamp *s,
					      const struct shown *call)
{
	if (!s->n || (call && s->calls[s->n - 1].depth < call->depth))
		return NULL;
	return &s->calls[--s->n];
}

/* Trim the call to what is around it, and put it on top. Nothing is over any
 * more. Negative: out of memory. */
int clamp_enter(struct clamp *s, uint32_t function, struct shown *call);

#endif
