/* SPDX-License-Identifier: MIT
 *
 * Decides for an entry that is not a call from the innermost open one which
 * stack it is on and which open calls it shows to be unwound.
 */
#include "calls/enter_slow.h"

#include "calls/find_lane.h"
#include "calls/jumps.h"
#include "calls/sigstack.h"

/* Was o made in the frame that f is of? */
static int is_same_frame(const struct callstack *c, const struct open_call *o,
			 const struct frame *f)
{
	const struct site_place *places = c->sites->places;

	/* No inlined call reports itself in such a function. */
	if (o->is_seed && o->is_patched)
		return 0;
	return (o->physical == f->site->physical ||
		places[f->number].is_part) &&
	       (!o->site || places[o->site].caller == places[f->number].caller);
}

/* Is the inlined call within the open one that has this scope? */
static int is_within(const struct callstack *c, const struct stack *s,
		     const struct frame *f, uint32_t scope)
{
	const struct site_place *places = c->sites->places;
	uint32_t own = places[f->number].scope, twin;

	if (scopes_is_inside(&c->sites->scopes, own, scope))
		return own != scope;
	/* In another one that was not entered: this one's code, made one with
	 * that one's. */
	twin = scopes_twin(&c->sites->scopes, own, scope);
	for (uint32_t i = s->n; twin && i && s->calls[i - 1].cfa == f->cfa; i--)
		if (places[s->calls[i - 1].site].scope == twin)
			return 0;
	return twin != 0;
}

/* Into a frame whose inlined calls are known comes another one: it lies within
 * those that are still open; the others were left by a jump. */
static int enter_inlined(struct callstack *c, struct thread *t, struct stack *s,
			 const struct frame *f)
{
	uint32_t left = s->n;

	for (uint32_t i = s->n; i && s->calls[i - 1].cfa == f->cfa; i--) {
		uint32_t scope = c->sites->places[s->calls[i - 1].site].scope;

		if (!is_same_frame(c, &s->calls[i - 1], f) ||
		    (scope && !is_within(c, s, f, scope)))
			left = i - 1;
	}
	stack_left(c, t, s, left, f->time);
	if (!s->n || stack_top(s)->cfa != f->cfa)
		return 0;
	c->sites->all[f->number].joined = stack_top(s)->site;
	return 1;
}

/* At the frame of the innermost calls, in the function that they are in: an
 * inlined callee joins them, anything else has taken their place.  1: the way
 * is clear to push. */
static int enter_equal_frame(struct callstack *c, struct thread *t,
			     struct stack *s, const struct frame *f)
{
	uint32_t i = s->n;

	if (c->sites->places[f->number].scope)
		return enter_inlined(c, t, s, f);
	for (uint32_t k = i; k > 0 && s->calls[k - 1].cfa == f->cfa; k--) {
		if (s->calls[k - 1].site == f->number)
			i = k - 1;
	}
	stack_left(c, t, s, i, f->time);
	return s->n && stack_top(s)->cfa == f->cfa;
}

/* Is the frame one that calls are open in?  Those below it are not. */
static int enter_own_frame(struct callstack *c, struct thread *t,
			   struct stack *s, const struct frame *f)
{
	uint32_t i = s->n;

	while (i > 0 && s->calls[i - 1].cfa < f->cfa)
		i--;
	if (!i || s->calls[i - 1].cfa != f->cfa ||
	    !is_same_frame(c, &s->calls[i - 1], f))
		return 0;
	stack_left(c, t, s, i, f->time);
	return enter_equal_frame(c, t, s, f);
}

/* No open call is known to be the caller (it has no hooks, or its stack was
 * unwound): close what cannot be alive below the new frame. */
static void enter_below(struct callstack *c, struct thread *t, struct stack *s,
			const struct frame *f)
{
	/* The caller's own frame reaches this far up: a call that began in it
	 * is over (the thread's start function, when its thread's data is
	 * destroyed after pthread_exit). */
	const struct site_place *place = &c->sites->places[f->number];
	uint64_t up_to = f->cfa + (uint64_t)place->caller_frame;
	const struct open_call *top;

	/* Unless it is the frame that a part of that call's function has. */
	if (place->is_by_part && place->caller_frame)
		up_to--;
	while ((top = stack_top(s)) && top->cfa <= up_to)
		stack_left(c, t, s, s->n - 1, f->time);
}

/* The caller is nowhere innermost: find the stack by where the frame lies.  On
 * another one than the current (a handler on a stack of its own has jumped out)
 * the caller may be open below what was left. */
static struct stack *enter_near(struct callstack *c, struct thread *t,
				const struct frame *f)
{
	struct stack *s = lanes_near(c, t, f);
	uint32_t caller = 0;

	if (s != t->current) {
		if (enter_own_frame(c, t, s, f))
			return s;
		if (f->site->caller_physical)
			caller = lanes_find_caller(c, s, f);
	}
	if (caller)
		stack_left(c, t, s, caller, f->time);
	else
		enter_below(c, t, s, f);
	return s;
}

/* Where a stack begins what is open is over, or has this one inlined. */
static struct stack *enter_first(struct callstack *c, struct thread *t,
				 const struct frame *f)
{
	struct stack *s = lanes_first(c, t, f);

	if (s->high == f->cfa && !enter_own_frame(c, t, s, f))
		stack_left(c, t, s, 0, f->time);
	return s;
}

/* On an alternate stack: who comes there from another one begins a handler,
 * unless the caller is one that was left open, by a switch of stacks. */
static struct stack *enter_alternate(struct callstack *c, struct thread *t,
				     struct stack *s, const struct frame *f)
{
	int is_new = s != t->current;
	uint32_t caller = 0;

	jumps_settle(c, t, s, f);
	if (is_new && c->sites->places[f->number].is_signal) {
		stack_left(c, t, s, 0, f->time);
		return s;
	}
	if (enter_own_frame(c, t, s, f))
		return s;
	if (f->site->caller_physical)
		caller = lanes_find_caller(c, s, f);
	if (caller || is_new)
		stack_left(c, t, s, caller, f->time);
	else
		enter_below(c, t, s, f);
	return s;
}

struct stack *entry_settle(struct callstack *c, struct thread *t,
			   const struct frame *f)
{
	struct stack *s, *other;
	uint32_t caller;

	stack_now(t);
	other = sigstack_of(c, t, f);
	if (other)
		return enter_alternate(c, t, other, f);
	sigstack_left(t, f);
	s = t->current;
	jumps_settle(c, t, s, f);
	if (c->sites->places[f->number].is_first)
		return enter_first(c, t, f);
	if (enter_own_frame(c, t, s, f))
		return s;
	if (f->site->caller_physical) {
		caller = lanes_find_caller(c, s, f);
		other = c->n_extra ? lanes_of_caller(c, t, f) : NULL;
		if (other)
			return other;
		if (caller) {
			stack_left(c, t, s, caller, f->time);
			return s;
		}
	}
	return enter_near(c, t, f);
}
