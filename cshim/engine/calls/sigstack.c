/* SPDX-License-Identifier: MIT
 *
 * Keeps the one lane for the alternate stack of a thread's signal handlers, and
 * knows when a thread enters and leaves it.
 */
#include "calls/sigstack.h"

static int is_same(const struct extent *a, const struct extent *b)
{
	return a->low == b->low && a->size == b->size;
}

void sigstack_set(struct thread *t, struct extent extent)
{
	if (is_same(&t->alternate, &extent))
		return;
	t->alternate = extent;
	t->handlers = NULL;
}

struct stack *sigstack_now(const struct callstack *c, struct thread *t)
{
	struct stack *s = t->handlers;

	if (s || !t->alternate.size)
		return s;
	for (s = c->stacks; s; s = s->next)
		if (s->thread == t && is_same(&s->extent, &t->alternate))
			break;
	t->handlers = s;
	return s;
}

int sigstack_holds(const struct callstack *c, struct thread *t,
		   uint64_t address)
{
	const struct open_call *top;

	if (!extent_holds(&t->alternate, address))
		return 0;
	/* gdb saw it before its record came, or it is a coroutine in memory
	 * that the program did not take back: then it is known already. */
	top = stack_top(t->current);
	return !top || !extent_holds(&t->alternate, top->cfa) ||
	       t->current == sigstack_now(c, t);
}

struct stack *sigstack_make(struct callstack *c, struct thread *t, uint64_t cfa)
{
	struct stack *s = sigstack_now(c, t);

	if (!s)
		s = lanes_add(c, t, cfa);
	if (s)
		s->extent = t->alternate;
	t->handlers = s;
	return s;
}

struct stack *sigstack_of(struct callstack *c, struct thread *t,
			  const struct frame *f)
{
	return sigstack_holds(c, t, f->cfa) &&
			       !c->sites->places[f->number].is_first
		       ? sigstack_make(c, t, f->cfa)
		       : NULL;
}

void sigstack_left(struct thread *t, const struct frame *f)
{
	struct stack *s = t->current;

	if (!stack_may_hold(s, f->cfa) && s->interrupted)
		t->current = s->interrupted->ordinal ? s->interrupted : t->own;
}
