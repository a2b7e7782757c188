/* SPDX-License-Identifier: MIT */
#include "mark.h"

#include "fork.h"
#include "lanes.h"

/* Does the address lie on s above its innermost call? */
static int is_above(const struct thread *t, const struct stack *s, uint64_t sp)
{
	if (!s->n || s->calls[s->n - 1].cfa > sp)
		return 0;
	if (s->calls[0].cfa > sp)
		return 1;
	return s == t->own &&
	       (t->base ? sp < t->base : sp - s->high < ABOVE_STACK_BYTES);
}

/* The stack that holds the address; NULL: not known. */
static struct stack *stack_at(const struct callstack *c, const struct thread *t,
			      uint64_t sp)
{
	struct stack *found = NULL;
	uint64_t nearest = CALLBACK_BYTES;

	if (is_above(t, t->current, sp))
		return t->current;
	if (is_above(t, t->own, sp))
		return t->own;
	/* A coroutine's, which goes on in its innermost call. */
	for (struct stack *s = c->stacks; s; s = s->next) {
		uint64_t away = s->n ? s->calls[s->n - 1].cfa - sp : 0;

		if (s->process == t->process && (s->ordinal || s == t->own) &&
		    away && away < nearest) {
			nearest = away;
			found = s;
		}
	}
	return found;
}

/* Close what is left. */
static void jump(struct callstack *c, struct thread *t, uint64_t sp,
		 uint64_t time)
{
	struct stack *s = stack_at(c, t, sp);
	const struct open_call *top;

	if (!s)
		return;
	t->current = s;
	while ((top = stack_top(s)) &&
	       top->cfa + (top->is_near ? NEAR_BYTES : 0) <= sp)
		stack_unwind(c, t, s, s->n - 1, time);
}

void mark_take(struct callstack *c, struct thread *t,
	       const struct cst_record *r)
{
	uint64_t sp = cst_record_sp(r);
	uint64_t time = pauses_skip(c->pauses, t->last_time);

	switch (cst_record_site(r)) {
	case CST_FORK:
		fork_snapshot(t, (uint32_t)sp);
		break;
	case CST_JUMP:
		if (t->last_time < c->begin_ticks)
			break;
		if (t->heir_of)
			fork_inherit(c, t, time, sp, 0);
		jump(c, t, sp, time);
		break;
	}
}
