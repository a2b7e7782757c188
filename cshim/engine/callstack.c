/* SPDX-License-Identifier: MIT */
#include "callstack.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* A callback's frame lies this near below the frame it was called
	 * from, through code without hooks; farther away is another stack. */
	SAME_STACK_BYTES = 1 << 20,
	/* ... and code that runs after the outermost call returned (atexit,
	 * destructors) this near above it. */
	ABOVE_STACK_BYTES = 1 << 16,
	/* A realigned frame's stand-in lies this near to its true CFA. */
	NEAR_BYTES = 4096,
};

/* What one record says of its frame. */
struct frame {
	const struct site *site;
	uint64_t cfa;
	uint64_t time;
	uint8_t is_near;
};

void callstack_init(struct callstack *c, struct sites *sites)
{
	*c = (struct callstack){.sites = sites};
}

void callstack_release(struct callstack *c)
{
	while (c->stacks) {
		struct stack *s = c->stacks;

		c->stacks = s->next;
		free(s->calls);
		free(s);
	}
	free(c->n_open_of);
	callstack_init(c, c->sites);
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

/* The open calls' count of a physical function. */
static uint32_t *open_of(struct callstack *c, uint32_t physical)
{
	static uint32_t none;
	uint32_t cap = c->cap_physical ? c->cap_physical : 1024;
	uint32_t *all;

	if (__builtin_expect(physical < c->cap_physical, 1))
		return &c->n_open_of[physical];
	while (cap <= physical)
		cap *= 2;
	all = realloc(c->n_open_of, cap * sizeof(*all));
	if (!all)
		return &none;
	memset(all + c->cap_physical, 0,
	       (cap - c->cap_physical) * sizeof(*all));
	c->n_open_of = all;
	c->cap_physical = cap;
	return &all[physical];
}

static int stack_room(struct stack *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : 64;
	struct open_call *calls = realloc(s->calls, cap * sizeof(*calls));

	if (!calls)
		return -1;
	s->calls = calls;
	s->cap = cap;
	return 0;
}

static struct open_call *stack_top(struct stack *s)
{
	return s->n ? &s->calls[s->n - 1] : NULL;
}

/* ---- entering and leaving ---------------------------------------------- */

static void call_keep(struct callstack *c, struct stack *s, struct open_call *o)
{
	struct lane_call kept = {
		.start = o->start,
		.number = o->number,
		.site = o->call_site,
		.depth = s->n - 1,
		.thread = o->thread,
		.end = CALL_OPEN,
		.is_seed = o->is_seed,
	};

	o->seq = s->lane ? lane_enter(s->lane, &kept) : UINT64_MAX;
	if (o->seq == UINT64_MAX)
		c->n_not_kept++;
}

static void stack_push(struct callstack *c, struct thread *t, struct stack *s,
		       const struct open_call *call)
{
	struct open_call *o;

	if (__builtin_expect(s->n == s->cap, 0) && stack_room(s) < 0)
		return;
	o = &s->calls[s->n++];
	*o = *call;
	if (o->cfa > s->high)
		s->high = o->cfa;
	++*open_of(c, o->physical);
	call_keep(c, s, o);
	if (c->listener.entered)
		c->listener.entered(c->listener.arg, t, s, o);
}

static void stack_pop(struct callstack *c, struct thread *t, struct stack *s,
		      uint64_t time, enum call_end how)
{
	struct open_call *o = &s->calls[s->n - 1];
	uint64_t end = time > o->start ? time : o->start;

	if (o->seq != UINT64_MAX)
		lane_exit(s->lane, o->seq, end, how);
	if (c->listener.left)
		c->listener.left(c->listener.arg, t, s, o, end, how);
	c->n_unwound += how == CALL_UNWOUND;
	--*open_of(c, o->physical);
	s->n--;
	if (s->n_shown > s->n)
		s->n_shown = s->n;
}

static void stack_unwind(struct callstack *c, struct thread *t, struct stack *s,
			 uint32_t n, uint64_t time)
{
	while (s->n > n)
		stack_pop(c, t, s, time, CALL_UNWOUND);
}

/* ---- which stack -------------------------------------------------------- */

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

/* The innermost open call on s that is the caller of a frame at cfa: its
 * index + 1, or 0. */
static uint32_t stack_find_caller(const struct stack *s, uint32_t physical,
				  uint64_t cfa)
{
	for (uint32_t i = s->n; i > 0; i--) {
		const struct open_call *o = &s->calls[i - 1];

		if (o->physical == physical && o->cfa > cfa)
			return o->cfa - cfa < SAME_STACK_BYTES ? i : 0;
	}
	return 0;
}

static struct stack *other_stack(struct callstack *c, struct thread *t,
				 uint64_t cfa)
{
	struct stack *s;

	for (s = c->stacks; s; s = s->next) {
		if (s != t->current && s->process == t->process && s->high &&
		    (s->ordinal || s == t->own) && is_near_stack(s, cfa))
			return s;
	}
	s = callstack_add(c, t, ++c->n_extra);
	return s ? s : t->current;
}

/* The stack of the process whose innermost call is the caller. */
static struct stack *stack_of_caller(struct callstack *c, struct thread *t,
				     const struct frame *f)
{
	for (struct stack *s = c->stacks; s; s = s->next) {
		const struct open_call *top = stack_top(s);

		if (s != t->current && s->process == t->process && top &&
		    (s->ordinal || s == t->own) &&
		    top->physical == f->site->caller_physical &&
		    top->cfa > f->cfa && top->cfa - f->cfa < SAME_STACK_BYTES)
			return s;
	}
	return NULL;
}

/* ---- entry -------------------------------------------------------------- */

/* At the frame of the innermost calls: an inlined callee joins them; anything
 * else has taken their place.  1: the way is clear to push. */
static int enter_equal_frame(struct callstack *c, struct thread *t,
			     struct stack *s, const struct frame *f)
{
	struct open_call *top = stack_top(s);
	uint32_t i = s->n;

	if (top->caller != f->site->caller ||
	    top->physical != f->site->physical) {
		while (i > 0 && s->calls[i - 1].cfa == f->cfa)
			i--;
		stack_unwind(c, t, s, i, f->time);
		return 0;
	}
	for (uint32_t k = i; k > 0 && s->calls[k - 1].cfa == f->cfa; k--) {
		if (s->calls[k - 1].hook == f->site->hook)
			i = k - 1;
	}
	stack_unwind(c, t, s, i, f->time);
	return 1;
}

/* No open call is known to be the caller (it has no hooks, or its stack was
 * unwound): close what cannot be alive below the new frame. */
static void enter_below(struct callstack *c, struct thread *t, struct stack *s,
			const struct frame *f)
{
	struct open_call *top;

	while ((top = stack_top(s)) && top->cfa < f->cfa)
		stack_pop(c, t, s, f->time, CALL_UNWOUND);
	if (top && top->cfa == f->cfa)
		enter_equal_frame(c, t, s, f);
}

/* Everything but the plain case. Returns the stack to push on. */
static struct stack *enter_settle(struct callstack *c, struct thread *t,
				  const struct frame *f)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);
	uint32_t physical = f->site->caller_physical;
	struct stack *other;
	uint32_t caller;

	if (top && top->cfa == f->cfa && enter_equal_frame(c, t, s, f))
		return s;
	if (physical && *open_of(c, physical)) {
		caller = stack_find_caller(s, physical, f->cfa);
		if (caller) {
			stack_unwind(c, t, s, caller, f->time);
			return s;
		}
		other = stack_of_caller(c, t, f);
		if (other)
			return other;
	}
	if (!is_near_stack(s, f->cfa))
		s = other_stack(c, t, f->cfa);
	enter_below(c, t, s, f);
	return s;
}

static void callstack_enter(struct callstack *c, struct thread *t,
			    const struct frame *f)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);
	struct open_call call = {
		.cfa = f->cfa,
		.start = f->time,
		.number = ++t->n_calls,
		.hook = f->site->hook,
		.caller = f->site->caller,
		.function = f->site->function,
		.call_site = f->site->call_site,
		.physical = f->site->physical,
		.thread = t->index,
		.is_near = f->is_near,
	};

	if (!top || f->cfa >= top->cfa ||
	    top->cfa - f->cfa >= SAME_STACK_BYTES ||
	    top->physical != f->site->caller_physical) {
		s = enter_settle(c, t, f);
		t->current = s;
	}
	c->n_calls++;
	stack_push(c, t, s, &call);
}

/* ---- exit --------------------------------------------------------------- */

static int is_frame(const struct open_call *o, const struct frame *f)
{
	if (o->function != f->site->function)
		return 0;
	if (o->cfa == f->cfa)
		return 1;
	if (!o->is_near && !f->is_near)
		return 0;
	return (o->cfa < f->cfa ? f->cfa - o->cfa : o->cfa - f->cfa) <
	       NEAR_BYTES;
}

/* The call on s that this exit ends: its index + 1, or 0. */
static uint32_t stack_find_frame(const struct stack *s, const struct frame *f)
{
	for (uint32_t i = s->n; i > 0; i--) {
		if (is_frame(&s->calls[i - 1], f))
			return i;
		if (s->calls[i - 1].cfa > f->cfa + NEAR_BYTES)
			return 0;
	}
	return 0;
}

static void leave_found(struct callstack *c, struct thread *t, struct stack *s,
			uint32_t i, uint64_t time)
{
	t->current = s;
	stack_unwind(c, t, s, i, time);
	stack_pop(c, t, s, time, CALL_RETURN);
}

static void callstack_leave(struct callstack *c, struct thread *t,
			    const struct frame *f)
{
	struct stack *s = t->current;
	struct open_call *top = stack_top(s);
	uint32_t i;

	if (top && top->function == f->site->function && top->cfa == f->cfa) {
		stack_pop(c, t, s, f->time, CALL_RETURN);
		return;
	}
	i = stack_find_frame(s, f);
	if (i) {
		leave_found(c, t, s, i, f->time);
		return;
	}
	for (s = c->stacks; s; s = s->next) {
		if (s == t->current || s->process != t->process ||
		    (!s->ordinal && s != t->own))
			continue;
		i = stack_find_frame(s, f);
		if (i) {
			leave_found(c, t, s, i, f->time);
			return;
		}
	}
	c->n_orphans++;
}

void callstack_record(struct callstack *c, struct thread *t,
		      const struct site *site, uint64_t sp, uint64_t fp,
		      uint64_t time)
{
	struct frame f = {.site = site, .time = time};

	switch (site->cfa_base) {
	case CFA_SP:
		f.cfa = sp + (uint64_t)(int64_t)site->cfa_offset;
		break;
	case CFA_FP:
	case CFA_FP_NEAR:
		f.cfa = fp + (uint64_t)(int64_t)site->cfa_offset;
		f.is_near = site->cfa_base == CFA_FP_NEAR;
		break;
	default:
		f.cfa = sp;
		f.is_near = 1;
	}
	if (site->kind == CST_ENTER)
		callstack_enter(c, t, &f);
	else
		callstack_leave(c, t, &f);
}

void callstack_seed(struct callstack *c, struct thread *t, uint32_t function,
		    uint32_t call_site, const struct cst_seed *seed,
		    uint64_t time)
{
	struct open_call call = {
		.cfa = seed->cfa,
		.start = time,
		.number = ++t->n_seeds,
		.caller = seed->caller,
		.function = function,
		.call_site = call_site,
		.physical = sites_physical(c->sites, seed->pc),
		.thread = t->index,
		.is_seed = 1,
	};

	c->n_seeds++;
	stack_push(c, t, t->own, &call);
}

uint64_t callstack_n_open(const struct callstack *c)
{
	uint64_t n = 0;

	for (const struct stack *s = c->stacks; s; s = s->next)
		n += s->n;
	return n;
}
