/* SPDX-License-Identifier: MIT */
#include "nest.h"

#include <stdlib.h>

void nest_release(struct nest *s)
{
	free(s->calls);
	*s = (struct nest){0};
}

static int nest_grow(struct nest *s)
{
	uint64_t cap = s->cap ? s->cap * 2ull : 8;
	void *p = cap > UINT32_MAX ? NULL
				   : realloc(s->calls, cap * sizeof(*s->calls));

	if (!p)
		return CST_MEMORY;
	s->calls = p;
	s->cap = (uint32_t)cap;
	return 0;
}

static uint64_t between(uint64_t low, uint64_t v, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

int nest_enter(struct nest *s, uint32_t function, struct shown *call)
{
	uint64_t *low = s->n ? &s->calls[s->n - 1].free_ns : &s->free_ns;
	uint64_t high = s->n ? s->calls[s->n - 1].end_ns : UINT64_MAX;
	uint64_t start = between(*low, call->start_ns, high), end;

	if (__builtin_add_overflow(call->start_ns, call->duration_ns, &end))
		end = UINT64_MAX;
	end = between(start, end, high);
	call->start_ns = start;
	call->duration_ns = end - start;
	*low = end;
	if (s->n == s->cap && nest_grow(s) < 0)
		return CST_MEMORY;
	s->calls[s->n++] = (struct nested){.end_ns = end,
					   .free_ns = start,
					   .depth = call->depth,
					   .function = function,
					   .end = call->end};
	return 0;
}
