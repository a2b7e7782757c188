/* SPDX-License-Identifier: MIT
 *
 * Draws a tail call below the function that made it.
 */
#include "calls/tails.h"

static int add(struct stack *s, uint64_t at, uint32_t end)
{
	if (array_room(&s->tails, &s->cap_tails, s->n_tails + 1ull) < 0)
		return 0;
	s->tails[s->n_tails++] =
		(struct open_tail){.at = at, .call = s->n - 1, .end = end};
	s->calls[s->n - 1].is_tailed = 1;
	return 1;
}

int tails_wait(struct stack *s, const struct frame *f)
{
	return add(s, f->time, f->number);
}

int tails_note(struct stack *s)
{
	return add(s, 0, 0);
}

void tails_end(struct callstack *c, struct thread *t, struct stack *s,
	       uint64_t time)
{
	while (tails_is_top(s) && !s->tails[s->n_tails - 1].at)
		stack_pop(c, t, s, time, CALL_RETURN);
}

void tails_give_up(struct callstack *c, struct thread *t, struct stack *s)
{
	uint64_t at = tails_is_top(s) ? s->tails[s->n_tails - 1].at : 0;

	if (!at)
		return; /* what it jumped to is open, or was */
	stack_pop(c, t, s, at, CALL_RETURN);
	tails_end(c, t, s, at);
}

void tails_give_up_all(struct callstack *c)
{
	for (struct stack *s = c->stacks; s; s = s->next)
		tails_give_up(c, s->thread, s);
}

/* Says nothing of where the thread is: it may stand before an entry's record.
 */
static int is_aside(uint32_t number)
{
	return number == CST_TEXT || number == CST_VALUES ||
	       number == CST_ALTERNATE;
}

/* The index of the call that has the frame of the innermost one by a call, not
 * by a jump. */
static uint32_t first_of_frame(const struct stack *s)
{
	uint32_t i = s->n - 1, tail = s->n_tails - 1;

	while (tail && s->tails[tail - 1].call + 1 == i &&
	       s->calls[i - 1].cfa == s->calls[i].cfa) {
		tail--;
		i--;
	}
	return i;
}

/* Was that found out for the same before? */
static int is_as_before(const struct callstack *c, uint32_t end, uint32_t entry,
			uint32_t first)
{
	return c->sites->all[end].joined == entry &&
	       c->sites->places[end].scope == first;
}

static int may_lead(struct callstack *c, uint32_t end, uint32_t entry,
		    uint32_t first)
{
	if (is_as_before(c, end, entry, first))
		return 1;
	if (!tail_jumps_lead(c->sites, end, entry, first))
		return 0;
	/* Neither is used of an exit otherwise. */
	c->sites->all[end].joined = entry;
	c->sites->places[end].scope = first;
	c->sites->all[end].call_site =
		tail_jumps_call_site(c->sites, end, entry);
	return c->sites->all[end].call_site != UINT32_MAX;
}

/* Is the entry what the innermost call jumped to? */
static int is_led_to(struct callstack *c, const struct stack *s,
		     const struct cst_record *r, uint32_t number)
{
	const struct open_tail *last = &s->tails[s->n_tails - 1];
	const struct site *site = &c->sites->all[number];
	const struct site_place *places = c->sites->places;
	const struct open_call *first;

	if (!last->at || site->kind != CST_ENTER || site->is_muted ||
	    callstack_cfa(site, r) != s->calls[s->n - 1].cfa ||
	    places[last->end].caller != places[number].caller)
		return 0;
	first = &s->calls[first_of_frame(s)];
	return first->function != site->function &&
	       may_lead(c, last->end, number, first->site);
}

/* Ends what has no room below: a function that comes again stands beside where
 * it was, so that functions that call each other so go no deeper. */
static void make_room(struct callstack *c, struct thread *t, struct stack *s,
		      uint32_t function)
{
	struct open_tail *last = &s->tails[s->n_tails - 1];
	uint32_t first = first_of_frame(s), i = first;
	uint64_t at = last->at;

	while (i < s->n && s->calls[i].function != function)
		i++;
	if (i == s->n && s->n - first > CST_MOST_TAILS)
		i--;
	last->at = 0;
	while (s->n > i)
		stack_pop(c, t, s, at, CALL_RETURN);
}

uint32_t tails_take(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t number)
{
	struct stack *s = t->current;

	if (!tails_is_top(s) || is_aside(number))
		return 0;
	if (number >= CST_FIRST_SITE && is_led_to(c, s, r, number)) {
		uint32_t end = s->tails[s->n_tails - 1].end;

		c->is_waiting = c->waits_for_names &&
				questions_n_open(&c->sites->questions);
		if (c->is_waiting)
			return TAILS_LATER;
		make_room(c, t, s, c->sites->all[number].function);
		return c->sites->all[end].call_site + 1;
	}
	if (s->tails[s->n_tails - 1].at)
		tails_give_up(c, t, s);
	else /* what it jumped to was left, and nobody saw it */
		tails_end(c, t, s, pauses_skip(c->pauses, t->last_time));
	return 0;
}
