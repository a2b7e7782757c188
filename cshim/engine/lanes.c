/* SPDX-License-Identifier: MIT */
#include "lanes.h"

static int is_near_stack(const struct stack *s, uint64_t cfa)
{
	const struct open_call *top = s->n ? &s->calls[s->n - 1] : NULL;
	uint64_t low = top ? top->cfa : s->high;

	if (!s->high)
		return 1;
	if (cfa < low)
		return low - cfa < SAME_STACK_BYTES;
	return cfa <= s->high || cfa - s->high < ABOVE_STACK_BYTES;
}

uint32_t lanes_find_caller(const struct stack *s, uint32_t physical,
			   uint64_t cfa)
{
	uint32_t i = s->n;

	while (i > 0 && s->calls[i - 1].cfa <= cfa)
		i--;
	for (uint32_t k = 0; i > 0 && k < CALLER_DISTANCE; k++, i--) {
		const struct open_call *o = &s->calls[i - 1];

		if (o->cfa - cfa >= SAME_STACK_BYTES)
			return 0;
		if (o->physical == physical)
			return i;
	}
	return 0;
}

struct stack *lanes_first(struct callstack *c, struct thread *t,
			  const struct frame *f)
{
	struct stack *s;

	if (!t->own->high)
		return t->own;
	for (s = c->stacks; s; s = s->next) {
		if (s->process == t->process && s->high == f->cfa) {
			stack_unwind(c, t, s, 0, f->time);
			return s;
		}
	}
	s = callstack_add(c, t, ++c->n_extra);
	return s ? s : t->current;
}

struct stack *lanes_near(struct callstack *c, struct thread *t, uint64_t cfa)
{
	struct stack *s;

	if (is_near_stack(t->current, cfa))
		return t->current;
	for (s = c->stacks; s; s = s->next) {
		if (s != t->current && s->process == t->process && s->high &&
		    (s->ordinal || s == t->own) && is_near_stack(s, cfa))
			return s;
	}
	s = callstack_add(c, t, ++c->n_extra);
	return s ? s : t->current;
}

struct stack *lanes_of_caller(struct callstack *c, struct thread *t,
			      const struct frame *f)
{
	uint64_t nearest = SAME_STACK_BYTES;
	struct stack *found = NULL;

	for (struct stack *s = c->stacks; s; s = s->next) {
		const struct open_call *top = stack_top(s);

		if (s != t->current && s->process == t->process && top &&
		    (s->ordinal || s == t->own) &&
		    top->physical == f->site->caller_physical &&
		    top->cfa > f->cfa && top->cfa - f->cfa < nearest) {
			nearest = top->cfa - f->cfa;
			found = s;
		}
	}
	return found;
}
