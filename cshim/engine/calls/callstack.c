/* SPDX-License-Identifier: MIT
 *
 * Turns records into calls: opens a call at an entry, closes it at its exit,
 * and passes both to the trace's lane and to the listener.  What is rare (other
 * stacks, jumps, exceptions, forks) is in the other files of this room.
 */
#include "calls/callstack.h"

#include "calls/enter_slow.h"
#include "calls/exceptions.h"
#include "calls/fast_path.h"
#include "calls/find_lane.h"
#include "calls/fork.h"
#include "calls/jumps.h"
#include "calls/log_points.h"
#include "calls/match_exit.h"
#include "calls/record_text.h"
#include "calls/tails.h"

#include <stdlib.h>

void callstack_init(struct callstack *c, struct sites *sites,
		    const struct pauses *pauses)
{
	*c = (struct callstack){
		.sites = sites, .pauses = pauses, .reach = SAME_STACK_BYTES};
}

void callstack_release(struct callstack *c)
{
	while (c->stacks) {
		struct stack *s = c->stacks;

		c->stacks = s->next;
		bytes_release(&s->value_bytes);
		free(s->valued);
		free(s->tails);
		free(s->calls);
		free(s);
	}
	hashmap_release(&c->callers);
	bytes_release(&c->decoded);
	callstack_init(c, c->sites, c->pauses);
}

void callstack_keep_open(struct callstack *c)
{
	for (struct stack *s = c->stacks; s && c->keep_ticks; s = s->next)
		if (s->n)
			stack_keep_pending(c, s, s->n - 1);
}

void callstack_keep(struct callstack *c, uint32_t depth, uint64_t ticks)
{
	if (!ticks)
		callstack_keep_open(c);
	/* Calls that are open are in their lanes, whatever is_pending says. */
	for (struct stack *s = c->stacks; s && !c->keep_ticks; s = s->next)
		for (uint32_t i = 0; i < s->n; i++)
			s->calls[i].is_pending = 0;
	c->keep_depth = depth;
	c->keep_ticks = ticks;
}

/* ---- entry -------------------------------------------------------------- */

/* The innermost open call is the caller; or has the function inlined. */
INLINE int is_plain_entry(const struct callstack *c,
			  const struct open_call *top, const struct frame *f)
{
	if (top->cfa == f->cfa)
		return top->site && top->site == f->site->joined;
	return top->cfa - f->cfa < c->reach &&
	       top->physical == f->site->caller_physical;
}

INLINE void callstack_enter(struct callstack *c, struct thread *t,
			    const struct frame *f, const struct values *v)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);
	struct open_call *o;

	if (unlikely(!f->tail && (!top || !is_plain_entry(c, top, f)))) {
		s = entry_settle(c, t, f);
		lanes_go_over(c, t, s, f);
	}
	c->n_calls++;
	o = stack_slot(s);
	if (unlikely(!o))
		return;
	if (unlikely(v != NULL))
		stack_set_values(s, v);
	o->cfa = f->cfa;
	o->start = f->time;
	o->function = f->site->function;
	o->physical = f->site->physical;
	o->call_site = f->tail ? f->tail - 1 : f->site->call_site;
	o->site = f->number;
	o->is_near = f->site->is_near;
	o->is_seed = 0;
	o->is_listed = 0;
	o->is_tailed = 0;
	stack_push(c, t, s, ++t->n_calls);
	if (unlikely(v != NULL))
		stack_keep_rest(c, s, &s->calls[s->n - 1]);
}

void callstack_call(struct callstack *c, struct thread *t,
		    const struct frame *f, const struct values *v)
{
	callstack_enter(c, t, f, v);
}

/* ---- exit --------------------------------------------------------------- */

/* Ends the innermost call, which returned a value. */
static void pop_with_result(struct callstack *c, struct thread *t,
			    struct stack *s, const struct frame *f)
{
	uint64_t seq;

	s->result = f->values;
	stack_pop(c, t, s, f->time, CALL_RETURN);
	s->result = NULL;
	seq = s->calls[s->n].seq;
	if (s->lane && seq != NO_SEQ)
		lane_keep_values(s->lane, seq, f->values->data, f->values->n,
				 1);
}

/* Ends the innermost call, whose exit hook ran. */
INLINE void stack_leave(struct callstack *c, struct thread *t, struct stack *s,
			const struct frame *f)
{
	enum call_end how = CALL_RETURN;

	if (unlikely(f->site->is_jump) && !s->n_flying && tails_wait(s, f))
		return;
	if (unlikely(s->n_flying)) {
		how = exceptions_end(s, s->n - 1);
		c->n_unwound += how == CALL_UNWOUND;
	}
	if (unlikely(f->values && how == CALL_RETURN))
		pop_with_result(c, t, s, f);
	else
		stack_pop(c, t, s, f->time, how);
	if (unlikely(s->n_tails))
		tails_end(c, t, s, f->time);
}

static void leave_found(struct callstack *c, struct thread *t, struct stack *s,
			uint32_t i, const struct frame *f)
{
	t->current = s;
	stack_left(c, t, s, i, f->time);
	stack_leave(c, t, s, f);
}

/* An exit that is not the innermost call's. */
static __attribute__((noinline)) void
leave_settle(struct callstack *c, struct thread *t, const struct frame *f)
{
	struct stack *s = t->current;
	uint32_t i;

	i = exits_find(s, f);
	if (i) {
		leave_found(c, t, s, i, f);
		return;
	}
	for (s = c->stacks; s; s = s->next) {
		if (s == t->current || s->process != t->process ||
		    (!s->ordinal && s != t->own))
			continue;
		i = exits_find(s, f);
		if (i) {
			leave_found(c, t, s, i, f);
			return;
		}
	}
	i = exits_find_rest(t->current, f);
	if (i)
		leave_found(c, t, t->current, i, f);
	else
		c->n_orphans++;
}

INLINE void callstack_leave(struct callstack *c, struct thread *t,
			    const struct frame *f)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);

	if (__builtin_expect(top && top->function == f->site->function &&
				     top->cfa == f->cfa,
			     1))
		stack_leave(c, t, s, f);
	else
		leave_settle(c, t, f);
}

/* Decodes the values of a record into c->decoded.  They have no reference: who
 * keeps them gets a copy. */
static const struct values *decode_values(struct callstack *c, struct thread *t,
					  uint32_t number)
{
	const size_t head = offsetof(struct values, data);
	struct bytes *b = &c->decoded;
	struct values *v;

	b->len = 0;
	if (!bytes_reserve(b, sizeof(*v)))
		return NULL;
	b->len = head;
	record_raw_decode(c->sites, t, number, b);
	if (b->len == head || b->failed)
		return NULL;
	v = (struct values *)b->data;
	*v = (struct values){.n = (uint32_t)(b->len - head)};
	return v;
}

/* A record of a hook that has copied values, or of an entry with logpoints. */
static __attribute__((noinline)) void
take_copied(struct callstack *c, struct thread *t, struct frame *f)
{
	if (t->n_raw | f->site->is_static)
		f->values = decode_values(c, t, f->number);
	if (f->site->kind == CST_ENTER)
		callstack_enter(c, t, f, f->values);
	else
		callstack_leave(c, t, f);
	if (f->site->has_point)
		log_points_hit(c, t, f);
}

/* One record. 0: it is not whole, or its site is not known yet. */
INLINE int take_one(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t n_known)
{
	/* Pairs with the hook's release: with a time it is complete. */
	uint64_t stamp = __atomic_load_n(&r->time, __ATOMIC_ACQUIRE);
	uint32_t number = cst_record_site(r);
	const struct site *site = &c->sites->all[number];
	struct frame f = {
		.site = site, .number = number, .sp = cst_record_frame(r)};

	if (unlikely(!stamp))
		return 0;
	if (unlikely(number >= n_known))
		return number >= CST_MAX_SITES;
	/* A handler takes its time before the hook that it interrupted fills
	 * its earlier slot. */
	if (stamp > t->last_time)
		t->last_time = stamp;
	if (unlikely(t->quiet_sp) && jumps_is_quiet(t, r, number)) {
		t->n_raw = 0;
		return 1;
	}
	if (unlikely(t->current->n_tails))
		f.tail = tails_take(c, t, r, number);
	if (unlikely(f.tail == TAILS_LATER))
		return 0;
	if (unlikely(site->is_muted || t->last_time < c->begin_ticks)) {
		t->n_raw = 0;
		jumps_take(c, t, r, number);
		return 1;
	}
	f.time = pauses_skip(c->pauses, t->last_time);
	f.cfa = callstack_cfa(site, r);
	if (unlikely(cst_record_has_numbers(r)))
		record_raw_unpack(c->sites, t, r);
	if (unlikely(t->heir_of != NULL))
		fork_inherit(c, t, f.time, f.cfa, site->kind == CST_EXIT);
	if (unlikely(t->n_raw | site->is_static | site->has_point))
		take_copied(c, t, &f);
	else if (site->kind == CST_ENTER)
		callstack_enter(c, t, &f, NULL);
	else
		callstack_leave(c, t, &f);
	return 1;
}

uint32_t callstack_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known)
{
	uint32_t i = 0;

	for (;;) {
		i += fast_path_take(c, t, records + i, n - i, n_known);
		if (i == n)
			return i;
		if (unlikely(c->stays) && lanes_leaves(t, &records[i])) {
			c->has_left = 1;
			return i;
		}
		if (!take_one(c, t, &records[i], n_known))
			return i;
		i++;
	}
}

void callstack_seed(struct callstack *c, struct thread *t, uint32_t function,
		    uint32_t call_site, const struct cst_seed *seed,
		    uint64_t time)
{
	stack_reopen(c, t, t->own,
		     &(struct open_call){
			     .cfa = seed->cfa,
			     .start = time,
			     .function = function,
			     .call_site = call_site,
			     .physical = sites_physical(c->sites, seed->pc),
			     .is_patched = seed->is_patched != 0,
		     });
}

uint64_t callstack_n_open(const struct callstack *c)
{
	uint64_t n = 0;

	for (const struct stack *s = c->stacks; s; s = s->next)
		n += s->n;
	return n;
}
