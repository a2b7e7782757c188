/* SPDX-License-Identifier: MIT
 *
 * Calls as intervals that nest strictly, for readers that insist on it: no call
 * ends before its callees, nor begins before the end of the one before it.
 * Times rounded to nanoseconds, and damaged ones, may violate this; they are
 * trimmed to what is around them.  The user of this may choose another unit,
 * the same for all times.
 */
#ifndef ENGINE_CLAMP_H
#define ENGINE_CLAMP_H

#include "trace/view.h"

struct nested {
	uint64_t end_ns;
	uint64_t free_ns; /* end of its last callee, or its start */
	uint32_t depth;
	uint32_t function;
	uint8_t end;	    /* enum call_end */
	uint8_t is_stopped; /* gdb stopped the program meanwhile */
};

/* The open calls of one lane; zeroed: none. */
struct clamp {
	struct nested *calls;
	uint32_t n, cap;
	uint64_t free_ns; /* end of its last outermost call */
	/* The gap between two calls that would touch: between one's end and the
	 * next one's start, or between the ends of callee and caller.  If there
	 * is no room for it they touch. */
	uint32_t gap;
	/* The shortest duration of a call, where there is room: readers that
	 * sample calls do not show one that took no time. */
	uint32_t shortest;
};

/* Frees the memory of s and zeroes it. */
void clamp_release(struct clamp *s);

/* Removes and returns the innermost call, if it has ended before `call` of the
 * same lane begins (NULL: the lane has ended); it is valid until clamp_enter().
 * Returns NULL if it has not ended. */
static inline const struct nested *clamp_over(struct clamp *s,
					      const struct shown *call)
{
	if (!s->n || (call && s->calls[s->n - 1].depth < call->depth))
		return NULL;
	return &s->calls[--s->n];
}

/* Trims the call to what is around it, and opens it; clamp_over() has returned
 * NULL before.  Returns 0, or CST_MEMORY. */
int clamp_enter(struct clamp *s, uint32_t function, struct shown *call);

#endif
