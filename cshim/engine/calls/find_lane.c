/* SPDX-License-Identifier: MIT
 *
 * Finds the stack of a frame by the frame's caller, by the distance to the
 * frames on each stack, and by what was learnt about return addresses.
 */
#include "calls/find_lane.h"

#include "calls/sigstack.h"

static int is_near_stack(const struct stack *s, uint64_t cfa)
{
	const struct open_call *top = s->n ? &s->calls[s->n - 1] : NULL;
	uint64_t low = top ? top->cfa : s->high;

	if (!s->high)
		return 1;
	if (cfa < low)
		return low - cfa < SAME_STACK_BYTES;
	return cfa <= s->high ||
	       cfa - s->high < (s->ordinal ? (uint64_t)SAME_BEGIN_BYTES
					   : ABOVE_STACK_BYTES);
}

int lanes_is_hookless(const struct callstack *c, const struct stack *s,
		      uint32_t i)
{
	while (i > 0 && s->calls[i - 1].cfa == s->calls[i].cfa)
		i--;
	return c->sites->places[s->calls[i].site].is_inlined;
}

/* A function without hooks may have called itself since its i-th call: is the
 * frame's caller that activation, with what came then left by a jump, or the
 * later one, which is not seen? */
static int is_of_later_one(const struct callstack *c, const struct stack *s,
			   uint32_t i, const struct frame *f)
{
	int32_t caller_frame = c->sites->places[f->number].caller_frame;

	return lanes_is_hookless(c, s, i) &&
	       (!caller_frame ||
		s->calls[i].cfa != f->cfa + (uint64_t)caller_frame);
}

uint32_t lanes_find_caller(const struct callstack *c, const struct stack *s,
			   const struct frame *f)
{
	uint32_t n = s->n;

	while (n > 0 && s->calls[n - 1].cfa <= f->cfa)
		n--;
	for (uint32_t i = n; i > 0 && n - i < CALLER_DISTANCE; i--) {
		const struct open_call *o = &s->calls[i - 1];

		if (o->cfa - f->cfa >= SAME_STACK_BYTES)
			return 0;
		if (o->physical == f->site->caller_physical &&
		    (i == n || !is_of_later_one(c, s, i - 1, f)))
			return i;
	}
	return 0;
}

/* Nothing was seen yet on the thread's own stack: is this on it? */
static int is_on_unused(const struct thread *t, uint64_t cfa)
{
	return !t->base || t->base - cfa < SAME_STACK_BYTES;
}

struct stack *lanes_add(struct callstack *c, struct thread *t, uint64_t cfa)
{
	/* On stacks side by side a caller is above its callee and no farther
	 * than half of what lies between their begins. */
	for (const struct stack *s = c->stacks; s; s = s->next) {
		uint64_t away = s->high > cfa ? s->high - cfa : cfa - s->high;

		if (s->high && s->process == t->process && away / 2 < c->reach)
			c->reach = away / 2;
	}
	if (c->reach < CALLBACK_BYTES)
		c->reach = CALLBACK_BYTES;
	return stack_add(c, t, ++c->n_extra);
}

struct stack *lanes_first(struct callstack *c, struct thread *t,
			  const struct frame *f)
{
	struct stack *s;

	if (!t->own->high && is_on_unused(t, f->cfa))
		return t->own;
	for (s = c->stacks; s; s = s->next) {
		if (s->process == t->process && s->high == f->cfa &&
		    !s->extent.size)
			return s;
	}
	s = lanes_add(c, t, f->cfa);
	return s ? s : t->current;
}

/* ---- the stack of a frame whose caller is not known ----------------------
 */

enum { BEGINS_STACKS = 1, CALLS_BACK = 2 };

static uint32_t caller_did(const struct callstack *c, const struct frame *f)
{
	const struct site_place *place = &c->sites->places[f->number];
	const uint32_t *did = hashmap_get(&c->callers, place->caller);

	return (did ? *did : 0) | (place->is_bare ? BEGINS_STACKS : 0);
}

static void caller_does(struct callstack *c, const struct frame *f,
			uint32_t what)
{
	const struct site_place *place = &c->sites->places[f->number];

	/* No memory: it is not learned. */
	if (place->caller && !place->is_signal)
		hashmap_put(&c->callers, place->caller,
			    caller_did(c, f) | what);
}

/* A frame that begins some stack: can it not be one on s, the current one? */
static int is_off_stack(const struct stack *s, uint64_t cfa)
{
	const struct open_call *top = s->n ? &s->calls[s->n - 1] : NULL;

	if (!s->high)
		return 0;
	if (cfa > s->high)
		return cfa - s->high >= SAME_BEGIN_BYTES;
	return s->ordinal && top && top->cfa > cfa &&
	       top->cfa - cfa >= CALLBACK_BYTES;
}

/* Does the frame begin this stack, which is not current, anew?  Or was the
 * stack resumed by code that we do not see, and called back? */
static int is_taken_up(const struct stack *s, const struct frame *f,
		       uint32_t did)
{
	uint64_t away = s->high > f->cfa ? s->high - f->cfa : f->cfa - s->high;

	/* What was an alternate one may be any memory now. */
	if (s->extent.size && (!s->n || !extent_holds(&s->extent, f->cfa)))
		return 0;
	if (!s->ordinal)
		return is_near_stack(s, f->cfa) &&
		       !(did & BEGINS_STACKS && is_off_stack(s, f->cfa));
	if (!s->n)
		return away < SAME_BEGIN_BYTES;
	return s->calls[0].cfa == f->cfa ||
	       (did & CALLS_BACK && is_near_stack(s, f->cfa));
}

struct stack *lanes_near(struct callstack *c, struct thread *t,
			 const struct frame *f)
{
	uint32_t did = caller_did(c, f);
	struct stack *s = t->current;

	if (stack_may_hold(s, f->cfa) &&
	    (s->high || s != t->own ? is_near_stack(s, f->cfa)
				    : is_on_unused(t, f->cfa)) &&
	    !(did & BEGINS_STACKS && is_off_stack(s, f->cfa))) {
		if (s->n && !(did & CALLS_BACK))
			caller_does(c, f, CALLS_BACK);
		return s;
	}
	for (s = c->stacks; s; s = s->next) {
		if (s != t->current && s->process == t->process && s->high &&
		    (s->ordinal || s == t->own) && is_taken_up(s, f, did))
			return s;
	}
	if (t->current != t->own && !t->own->high && t->base &&
	    is_on_unused(t, f->cfa))
		return t->own;
	s = lanes_add(c, t, f->cfa);
	if (!s)
		return t->current;
	caller_does(c, f, BEGINS_STACKS);
	return s;
}

/* How far above the address the innermost call on s is that lies there. */
static uint64_t distance_above(const struct stack *s, uint64_t cfa)
{
	uint32_t n = s->n;

	while (n > 0 && s->calls[n - 1].cfa <= cfa)
		n--;
	return n && s->calls[n - 1].cfa - cfa < SAME_STACK_BYTES
		       ? s->calls[n - 1].cfa - cfa
		       : SAME_STACK_BYTES;
}

struct stack *lanes_of_caller(struct callstack *c, struct thread *t,
			      const struct frame *f)
{
	uint64_t nearest = distance_above(t->current, f->cfa);
	struct stack *found = NULL;

	for (struct stack *s = c->stacks; s; s = s->next) {
		const struct open_call *top = stack_top(s);

		if (s != t->current && s->process == t->process && top &&
		    (s->ordinal || s == t->own) &&
		    top->physical == f->site->caller_physical &&
		    stack_may_hold(s, f->cfa) && top->cfa > f->cfa &&
		    top->cfa - f->cfa < nearest) {
			nearest = top->cfa - f->cfa;
			found = s;
		}
	}
	return found;
}

void lanes_go_over(const struct callstack *c, struct thread *t, struct stack *s,
		   const struct frame *f)
{
	const struct site_place *place = &c->sites->places[f->number];

	if (s != t->current && !s->n &&
	    (s == t->handlers || place->is_signal ||
	     (place->is_first && s->ordinal)))
		s->interrupted = t->current;
	t->current = s;
}

void lanes_jump_over(const struct callstack *c, struct thread *t,
		     struct stack *s)
{
	struct stack *from = t->current;

	t->current = s;
	if (s == from)
		return;
	if (from->interrupted == s)
		from->interrupted = NULL; /* it gives way */
	else if (s == t->handlers && !s->n)
		s->interrupted = from;
	else if (s->ordinal && s->n &&
		 c->sites->places[s->calls[0].site].is_first)
		s->interrupted = from;
}
