/* SPDX-License-Identifier: MIT
 *
 * Turns records into calls: opens a call at an entry, closes it at its exit,
 * and passes both to the trace's lane and to the listener.  What is rare (other
 * stacks, jumps, exceptions, forks) is in the other files of this room.
 */
#include "calls/callstack.h"

#include "base/array.h"
#include "calls/enter_slow.h"
#include "calls/exceptions.h"
#include "calls/fast_path.h"
#include "calls/find_lane.h"
#include "calls/fork.h"
#include "calls/jumps.h"
#include "calls/match_exit.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define unlikely(x) __builtin_expect(!!(x), 0)

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
		free(s->calls);
		free(s);
	}
	hashmap_release(&c->callers);
	callstack_init(c, c->sites, c->pauses);
}

struct stack *callstack_add(struct callstack *c, struct thread *t,
			    uint32_t ordinal)
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

/* ---- entering and leaving ---------------------------------------------- */

/* Where the lane must make ready. */
static __attribute__((noinline)) int
call_prepare(struct thread *t, struct stack *s, uint64_t number)
{
	const struct open_call *o = &s->calls[s->n - 1], *above = o;
	struct lane_entry entry = {.start = o->start,
				   .number = number,
				   .above = NO_SEQ,
				   .thread = t->index,
				   .is_seed = o->is_seed};

	while (above > s->calls && entry.above == NO_SEQ)
		entry.above = (--above)->seq;
	return s->lane ? lane_prepare(s->lane, &entry) : CST_FAILED;
}

/* Enter a call into its lane that was open for long enough, and before it all
 * around it: they are older. */
static void keep_pending(struct callstack *c, struct stack *s, uint32_t i)
{
	struct lane_entry entry = {.above = NO_SEQ};
	uint32_t first = i;

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
		     lane_prepare(s->lane, &entry) < 0)) {
			c->n_not_kept++;
			continue;
		}
		o->seq = entry.above =
			lane_enter(s->lane, o->start, o->call_site);
	}
}

void callstack_keep_open(struct callstack *c)
{
	for (struct stack *s = c->stacks; s && c->keep_ticks; s = s->next)
		if (s->n)
			keep_pending(c, s, s->n - 1);
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

/* 0: the call is not kept, or not so far. */
static __attribute__((noinline)) int
is_kept(struct callstack *c, const struct thread *t, const struct stack *s,
	struct open_call *o, uint64_t number)
{
	o->seq = NO_SEQ;
	o->is_pending = 0;
	if (c->keep_depth && s->n > c->keep_depth) {
		c->n_dropped++;
		return 0;
	}
	if (!c->keep_ticks || o->is_seed)
		return 1;
	o->is_pending = 1;
	o->number = number;
	o->numberer = t->index;
	return 0;
}

/* A call has ended that is not kept so far. */
static __attribute__((noinline)) void end_pending(struct callstack *c,
						  struct stack *s, uint64_t end)
{
	struct open_call *o = &s->calls[s->n - 1];

	if (!o->is_pending)
		return;
	if (end - o->start >= c->keep_ticks) {
		keep_pending(c, s, s->n - 1);
		return;
	}
	o->is_pending = 0;
	c->n_dropped++;
}

INLINE void call_keep(struct callstack *c, struct thread *t, struct stack *s,
		      struct open_call *o, uint64_t number)
{
	if (unlikely(c->keep_depth || c->keep_ticks) &&
	    !is_kept(c, t, s, o, number))
		return;
	if (unlikely(!s->lane || !lane_is_plain(s->lane, number, t->index) ||
		     o->is_seed) &&
	    call_prepare(t, s, number) < 0) {
		o->seq = NO_SEQ;
		c->n_not_kept++;
		return;
	}
	o->seq = lane_enter(s->lane, o->start, o->call_site);
}

/* Room for one more open call, or NULL: no memory. */
INLINE struct open_call *stack_slot(struct stack *s)
{
	if (array_room(&s->calls, &s->cap, s->n + 1ull) < 0)
		return NULL;
	return &s->calls[s->n];
}

/* The call that was filled in at stack_slot() is open. */
INLINE void stack_push(struct callstack *c, struct thread *t, struct stack *s,
		       uint64_t number)
{
	struct open_call *o = &s->calls[s->n++];

	if (unlikely(o->cfa > s->high))
		s->high = o->cfa;
	o->number = number;
	call_keep(c, t, s, o, number);
	if (unlikely(c->listener.entered != NULL))
		c->listener.entered(c->listener.arg, t, s, o);
}

/* Sets in the lane what unwound a call. */
static __attribute__((noinline)) void mark_thrown(struct stack *s,
						  const struct open_call *o)
{
	uint32_t function = exceptions_thrown(s);

	if (function != UINT32_MAX)
		lane_mark_thrown(s->lane, o->seq, function);
}

INLINE void stack_pop(struct callstack *c, struct thread *t, struct stack *s,
		      uint64_t time, enum call_end how)
{
	struct open_call *o = &s->calls[s->n - 1];
	uint64_t end = time > o->start ? time : o->start;

	if (unlikely(c->keep_ticks != 0))
		end_pending(c, s, end);
	if (s->lane)
		lane_exit(s->lane, o->seq, end, how);
	if (unlikely(how == CALL_UNWOUND && s->n_flying && s->lane))
		mark_thrown(s, o);
	if (unlikely(c->listener.left != NULL))
		c->listener.left(c->listener.arg, t, s, o, end, how);
	s->n--;
	if (unlikely(s->n_shown > s->n))
		s->n_shown = s->n;
}

void stack_unwind(struct callstack *c, struct thread *t, struct stack *s,
		  uint32_t n, uint64_t time)
{
	for (; s->n > n; c->n_unwound++)
		stack_pop(c, t, s, time, CALL_UNWOUND);
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
			    const struct frame *f)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);
	struct open_call *o;

	if (unlikely(!top || !is_plain_entry(c, top, f))) {
		s = entry_settle(c, t, f);
		lanes_go_over(c, t, s, f);
	}
	c->n_calls++;
	o = stack_slot(s);
	if (unlikely(!o))
		return;
	o->cfa = f->cfa;
	o->start = f->time;
	o->function = f->site->function;
	o->physical = f->site->physical;
	o->call_site = f->site->call_site;
	o->site = f->number;
	o->is_near = f->site->is_near;
	o->is_seed = 0;
	o->is_listed = 0;
	stack_push(c, t, s, ++t->n_calls);
}

/* ---- exit --------------------------------------------------------------- */

/* Ends the innermost call, whose exit hook ran. */
INLINE void stack_leave(struct callstack *c, struct thread *t, struct stack *s,
			uint64_t time)
{
	enum call_end how = CALL_RETURN;

	if (unlikely(s->n_flying)) {
		how = exceptions_end(s, s->n - 1);
		c->n_unwound += how == CALL_UNWOUND;
	}
	stack_pop(c, t, s, time, how);
}

static void leave_found(struct callstack *c, struct thread *t, struct stack *s,
			uint32_t i, uint64_t time)
{
	t->current = s;
	stack_unwind(c, t, s, i, time);
	stack_leave(c, t, s, time);
}

/* An exit that is not the innermost call's. */
static __attribute__((noinline)) void
leave_settle(struct callstack *c, struct thread *t, const struct frame *f)
{
	struct stack *s = t->current;
	uint32_t i;

	i = exits_find(s, f);
	if (i) {
		leave_found(c, t, s, i, f->time);
		return;
	}
	for (s = c->stacks; s; s = s->next) {
		if (s == t->current || s->process != t->process ||
		    (!s->ordinal && s != t->own))
			continue;
		i = exits_find(s, f);
		if (i) {
			leave_found(c, t, s, i, f->time);
			return;
		}
	}
	i = exits_find_rest(t->current, f);
	if (i)
		leave_found(c, t, t->current, i, f->time);
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
		stack_leave(c, t, s, f->time);
	else
		leave_settle(c, t, f);
}

/* One record. 0: it is not whole, or its site is not known yet. */
INLINE int take_one(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t n_known)
{
	/* Pairs with the hook's release: with a time it is whole. */
	uint64_t stamp = __atomic_load_n(&r->time, __ATOMIC_ACQUIRE);
	uint32_t number = cst_record_site(r);
	const struct site *site = &c->sites->all[number];
	struct frame f = {
		.site = site, .number = number, .sp = cst_record_sp(r)};

	if (unlikely(!stamp))
		return 0;
	if (unlikely(number >= n_known))
		return number >= CST_MAX_SITES;
	/* A handler takes its time before the hook that it interrupted fills
	 * its earlier slot. */
	if (stamp > t->last_time)
		t->last_time = stamp;
	if (unlikely(t->quiet_sp) && jumps_is_quiet(t, r, number))
		return 1;
	if (unlikely(site->is_muted || t->last_time < c->begin_ticks)) {
		jumps_take(c, t, r, number);
		return 1;
	}
	f.time = pauses_skip(c->pauses, t->last_time);
	f.cfa = (site->is_cfa_of_fp ? cst_record_fp(r) : cst_record_sp(r)) +
		(uint64_t)(int64_t)site->cfa_offset;
	if (unlikely(t->heir_of != NULL))
		fork_inherit(c, t, f.time, f.cfa, site->kind == CST_EXIT);
	if (site->kind == CST_ENTER)
		callstack_enter(c, t, &f);
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

void callstack_reopen(struct callstack *c, struct thread *t, struct stack *s,
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

void callstack_seed(struct callstack *c, struct thread *t, uint32_t function,
		    uint32_t call_site, const struct cst_seed *seed,
		    uint64_t time)
{
	callstack_reopen(c, t, t->own,
			 &(struct open_call){
				 .cfa = seed->cfa,
				 .start = time,
				 .function = function,
				 .call_site = call_site,
				 .physical = sites_physical(c->sites, seed->pc),
			 });
}

void callstack_note(struct callstack *c, struct thread *t, struct stack *s,
		    uint64_t cfa, uint32_t call_site, uint64_t time)
{
	struct open_call *o = stack_slot(s);
	uint64_t n_dropped = c->n_dropped;

	if (!o)
		return;
	*o = (struct open_call){
		.cfa = cfa,
		.start = time,
		.function = c->sites->names->sites[call_site].function,
		.call_site = call_site,
	};
	stack_push(c, t, s, ++t->n_calls);
	if (s->lane && o->seq != NO_SEQ)
		s->lane->n_notes++;
	stack_pop(c, t, s, time, CALL_RETURN);
	c->n_dropped = n_dropped; /* of calls */
}

uint64_t callstack_n_open(const struct callstack *c)
{
	uint64_t n = 0;

	for (const struct stack *s = c->stacks; s; s = s->next)
		n += s->n;
	return n;
}
