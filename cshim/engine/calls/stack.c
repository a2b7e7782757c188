/* SPDX-License-Identifier: MIT
 *
 * What is rare of opening and closing a call on a stack: a lane that must make
 * ready, calls that are kept only when they take long, calls left by a jump.
 */
#include "calls/stack.h"

#include <assert.h>
#include <stdlib.h>

struct stack *stack_add(struct callstack *c, struct thread *t, uint32_t ordinal)
{
	struct stack *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->process = t->process;
	s->ordinal = ordinal;
	s->thread = t;
	if (c->writer)
		s->lane = writer_lane(c->writer, t->process, t->index, ordinal);
	s->next = c->stacks;
	c->stacks = s;
	return s;
}

/* ---- which calls are kept --------------------------------------------------
 */

int stack_prepare_lane(struct thread *t, struct stack *s, uint64_t number)
{
	const struct open_call *o = &s->calls[s->n - 1], *above = o;
	struct lane_entry entry = {.start = o->start,
				   .number = number,
				   .above = NO_SEQ,
				   .thread = t->index,
				   .is_seed = o->is_seed};

	assert(s->n);
	while (above > s->calls && entry.above == NO_SEQ)
		entry.above = (--above)->seq;
	return s->lane ? lane_prepare(s->lane, &entry) : CST_FAILED;
}

void stack_keep_pending(struct callstack *c, struct stack *s, uint32_t i)
{
	struct lane_entry entry = {.above = NO_SEQ};
	uint32_t first = i;

	assert(i < s->n);
	while (first && s->calls[first - 1].is_pending)
		first--;
	for (uint32_t k = first; k-- > 0 && entry.above == NO_SEQ;)
		entry.above = s->calls[k].seq;
	for (uint32_t k = first; k <= i; k++) {
		struct open_call *o = &s->calls[k];

		if (!o->is_pending)
			continue;
		o->is_pending = 0;
		entry.start = o->start;
		entry.number = o->number;
		entry.thread = o->numberer;
		if (!s->lane ||
		    (!lane_is_plain(s->lane, o->number, o->numberer) &&
		     lane_prepare(s->lane, &entry) < 0))
			continue;
		o->seq = entry.above =
			lane_enter(s->lane, o->start, o->call_site);
		stack_keep_rest(c, s, o);
	}
}

int stack_is_kept(struct callstack *c, const struct thread *t,
		  const struct stack *s, struct open_call *o, uint64_t number)
{
	o->seq = NO_SEQ;
	o->is_pending = 0;
	if (c->keep_depth && s->n > c->keep_depth) {
		c->n_dropped += !o->is_seed; /* those are no calls of ours */
		return 0;
	}
	if (!c->keep_ticks || o->is_seed)
		return 1;
	o->is_pending = 1;
	o->number = number;
	o->numberer = t->index;
	return 0;
}

void stack_end_pending(struct callstack *c, struct stack *s, uint64_t end)
{
	struct open_call *o = &s->calls[s->n - 1];

	if (!o->is_pending)
		return;
	if (end - o->start >= c->keep_ticks) {
		stack_keep_pending(c, s, s->n - 1);
		return;
	}
	o->is_pending = 0;
	c->n_dropped++;
}

void stack_mark_thrown(struct stack *s, const struct open_call *o)
{
	uint32_t function = s->flying[s->n_flying - 1].function;

	if (function != UINT32_MAX)
		lane_mark_thrown(s->lane, o->seq, function);
}

/* ---- values ----------------------------------------------------------------
 */

const struct values *stack_values(const struct stack *s,
				  const struct open_call *o)
{
	uint32_t call = (uint32_t)(o - s->calls);

	for (uint32_t i = s->n_valued; i-- > 0;)
		if (s->valued[i].call <= call)
			return s->valued[i].call == call
				       ? (const struct values
						  *)(s->value_bytes.data +
						     s->valued[i].at)
				       : NULL;
	return NULL;
}

void stack_add_values(struct stack *s, uint32_t call, const void *data,
		      uint32_t n)
{
	size_t from = s->value_bytes.len, at;

	if (array_room(&s->valued, &s->cap_valued, s->n_valued + 1ull) < 0)
		return;
	at = values_put(&s->value_bytes, data, n, NULL, 0);
	if (s->value_bytes.len > from)
		s->valued[s->n_valued++] = (struct open_values){call, from, at};
}

void stack_set_values(struct stack *s, const struct values *v)
{
	if (v)
		stack_add_values(s, s->n, v->data, v->n);
}

void stack_drop_values(struct stack *s)
{
	while (s->n_valued && s->valued[s->n_valued - 1].call >= s->n)
		s->value_bytes.len = s->valued[--s->n_valued].from;
}

void stack_keep_rest(const struct callstack *c, struct stack *s,
		     const struct open_call *o)
{
	const struct names *names = c->sites->names;
	const struct values *v = stack_values(s, o);

	if (o->seq == NO_SEQ)
		return;
	s->lane->n_notes += names && names->functions[o->function].kind;
	if (v)
		lane_keep_values(s->lane, o->seq, v->data, v->n, 0);
}

/* ---- calls without a record ------------------------------------------------
 */

void stack_unwind(struct callstack *c, struct thread *t, struct stack *s,
		  uint32_t n, uint64_t time)
{
	for (; s->n > n; c->n_unwound++)
		stack_pop(c, t, s, time, CALL_UNWOUND);
}

void stack_left(struct callstack *c, struct thread *t, struct stack *s,
		uint32_t n, uint64_t time)
{
	while (s->n > n) {
		const struct open_call *o = &s->calls[s->n - 1];

		if ((o->is_seed && o->is_patched) ||
		    (o->site && c->sites->places[o->site].is_patched))
			stack_pop(c, t, s, time, CALL_ESTIMATED);
		else
			stack_unwind(c, t, s, s->n - 1, time);
	}
}

void stack_reopen(struct callstack *c, struct thread *t, struct stack *s,
		  const struct open_call *call)
{
	struct open_call *o = stack_slot(s);

	if (!o)
		return;
	*o = *call;
	o->is_seed = 1;
	o->is_listed = 0;
	c->n_seeds++;
	stack_push(c, t, s, ++t->n_seeds);
}

void stack_open(struct callstack *c, struct thread *t, struct stack *s,
		const struct open_call *call, const struct values *v)
{
	struct open_call *o = stack_slot(s);

	if (!o)
		return;
	c->n_other++;
	stack_set_values(s, v);
	*o = *call;
	stack_push(c, t, s, ++t->n_calls);
	stack_keep_rest(c, s, &s->calls[s->n - 1]);
}

void stack_note(struct callstack *c, struct thread *t, struct stack *s,
		uint64_t cfa, uint32_t call_site, uint64_t time,
		const struct values *v)
{
	const struct open_call call = {
		.cfa = cfa,
		.start = time,
		.function = c->sites->names->sites[call_site].function,
		.call_site = call_site,
	};
	uint64_t n_dropped = c->n_dropped;
	uint32_t n = s->n;

	stack_open(c, t, s, &call, v);
	if (s->n == n)
		return; /* no memory */
	/* What the program says is kept, however short the calls around. */
	if (v && s->calls[n].is_pending)
		stack_keep_pending(c, s, n);
	stack_pop(c, t, s, time, CALL_RETURN);
	c->n_dropped = n_dropped; /* of calls */
}
