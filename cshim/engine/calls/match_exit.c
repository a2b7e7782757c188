/* SPDX-License-Identifier: MIT
 *
 * Finds the call that an exit ends when it is not simply the innermost one,
 * also if the compiler split the function or jumped to the hook.
 */
#include "calls/match_exit.h"

static int is_frame(const struct open_call *o, const struct frame *f)
{
	if (o->function != f->site->function && !f->site->is_return)
		return 0;
	if (o->cfa == f->cfa)
		return 1;
	if (f->site->is_return)
		return 0;
	if (!o->is_near && !f->site->is_near)
		return 0;
	return (o->cfa < f->cfa ? f->cfa - o->cfa : o->cfa - f->cfa) <
	       NEAR_BYTES;
}

uint32_t exits_find(const struct stack *s, const struct frame *f)
{
	for (uint32_t i = s->n; i > 0; i--) {
		if (is_frame(&s->calls[i - 1], f))
			return i;
		if (s->calls[i - 1].cfa > f->cfa + NEAR_BYTES)
			return 0;
	}
	return 0;
}

/* Finds the call where the compiler split a function: its first part was
 * inlined and entered in the frame of the physical function that calls the
 * rest, and the rest exits from a frame of its own. */
static uint32_t find_split(const struct stack *s, const struct frame *f)
{
	const struct open_call *o;
	uint32_t i = s->n;

	while (i > 0 && s->calls[i - 1].cfa < f->cfa)
		i--;
	if (!i)
		return 0;
	o = &s->calls[i - 1];
	return o->function == f->site->function && o->physical &&
			       o->physical == f->site->caller_physical
		       ? i
		       : 0;
}

/* Finds the call where the exit hook was jumped to in place of a return, and
 * got an old caller (sites.c), so that its return address seems to be one in
 * the function: its own frame is where the function's was. */
static uint32_t find_jumped(const struct stack *s, const struct frame *f)
{
	uint32_t i = s->n;

	while (i > 0 && s->calls[i - 1].cfa < f->sp)
		i--;
	for (; i > 0 && s->calls[i - 1].cfa == f->sp; i--)
		if (s->calls[i - 1].function == f->site->function)
			return i;
	return 0;
}

uint32_t exits_find_rest(const struct stack *s, const struct frame *f)
{
	uint32_t i = find_split(s, f);

	return i ? i : find_jumped(s, f);
}
