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

/* Close what is left. */
static void jump(struct callstack *c, struct thread *t, uint64_t sp,
		 uint64_t time)
{
	struct stack *s = t->current;
	const struct open_call *top;

	/* By a handler on a stack of its own, or a coroutine: it may come back
	 * to that one. */
	if (!is_above(t, s, sp))
		s = t->own;
	if (!is_above(t, s, sp))
		return;
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
