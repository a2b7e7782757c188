/* SPDX-License-Identifier: MIT
 *
 * Trims each call of a lane so that it lies within its caller and behind the
 * call before it.
 */
#include "trace/clamp.h"
#include "base/array.h"

#include <stdlib.h>

void clamp_release(struct clamp *s)
{
	free(s->calls);
	*s = (struct clamp){0};
}

static uint64_t between(uint64_t low, uint64_t v, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

int clamp_enter(struct clamp *s, uint32_t function, struct shown *call)
{
	uint64_t *next = s->n ? &s->calls[s->n - 1].free_ns : &s->free_ns;
	uint64_t last = s->n ? s->calls[s->n - 1].end_ns : UINT64_MAX;
	uint64_t low = *next < last ? *next : last;
	uint64_t high = last - low < s->gap ? low : last - s->gap;
	uint64_t latest = high - low < s->shortest ? low : high - s->shortest;
	uint64_t start = between(low, call->start_ns, latest);
	uint64_t end = plus(call->start_ns, call->duration_ns);

	if (end - start < s->shortest || end < start)
		end = plus(start, s->shortest);
	end = between(start, end, high);
	call->start_ns = start;
	call->duration_ns = end - start;
	*next = plus(end, s->gap);
	if (array_room(&s->calls, &s->cap, s->n + 1ull) < 0)
		return CST_MEMORY;
	s->calls[s->n++] = (struct nested){.end_ns = end,
					   .free_ns = start,
					   .depth = call->depth,
					   .function = function,
					   .end = call->end,
					   .is_stopped = call->n_stops > 0};
	return 0;
}
