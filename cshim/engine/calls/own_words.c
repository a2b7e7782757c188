/* SPDX-License-Identifier: MIT
 *
 * A span is an open call in the frame that holds it: where that frame's CFA is
 * not known by its stack pointer, it is that of the call that is open in the
 * frame, or stands in for it.
 */
#include "calls/own_words.h"

#include "calls/exceptions.h"
#include "calls/find_lane.h"
#include "calls/fork.h"
#include "calls/jumps.h"
#include "calls/record_text.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 1 << 16 }; /* a frame may be this large */

/* One such record. */
struct word {
	const struct site *site;
	uint32_t number;
	uint64_t sp, time;
	const struct values *values; /* or NULL */
};

/* ---- spans and calls ------------------------------------------------------
 */

static int is_of_frame(const struct open_call *o, const struct word *w)
{
	return o->physical && o->physical == w->site->physical &&
	       o->cfa - w->sp - 1 < FRAME_BYTES;
}

/* The call by hooks that is open in the frame, where there is one: recursion
 * without hooks has frames of its own, which differ by their stack pointers. */
static const struct open_call *
call_of_frame(const struct callstack *c, struct stack *s, const struct word *w)
{
	const struct open_call *top = stack_top(s), *o = top;

	while (o && o > s->calls && !o->site && o->cfa == top->cfa)
		o--;
	return o && o->site && o->cfa == top->cfa && is_of_frame(o, w) &&
			       c->sites->all[o->site].kind == CST_ENTER
		       ? o
		       : NULL;
}

static uint64_t cfa_of(const struct callstack *c, struct stack *s,
		       const struct word *w)
{
	const struct open_call *o =
		w->site->is_near ? call_of_frame(c, s, w) : NULL;

	return o ? o->cfa : w->sp + (uint64_t)(int64_t)w->site->cfa_offset;
}

/* A span that begins again in one frame was left by a jump. */
static void leave_older(struct callstack *c, struct thread *t, struct stack *s,
			const struct word *w, uint64_t cfa)
{
	uint32_t left = s->n;

	for (uint32_t i = s->n; i && s->calls[i - 1].cfa == cfa; i--)
		if (s->calls[i - 1].call_site == w->site->call_site)
			left = i - 1;
	stack_unwind(c, t, s, left, w->time);
}

static void open_span(struct callstack *c, struct thread *t,
		      const struct word *w)
{
	struct stack *s = jumps_unwind_to(c, t, w->sp, w->time);
	const struct open_call call = {
		.cfa = cfa_of(c, s, w),
		.start = w->time,
		.function = w->site->function,
		.physical = w->site->physical,
		.call_site = w->site->call_site,
		.is_near = w->site->is_near,
	};

	leave_older(c, t, s, w, call.cfa);
	stack_open(c, t, s, &call, w->values);
}

/* Has the function that reports itself hooks, too?  A copy of it that the
 * compiler made has another address, but the same caller. */
static int is_hooked(const struct callstack *c, const struct open_call *o,
		     const struct word *w)
{
	const struct site_place *places = c->sites->places;

	return o->site && o->cfa - w->sp - 1 < FRAME_BYTES &&
	       c->sites->all[o->site].kind == CST_ENTER &&
	       places[o->site].caller == places[w->number].caller;
}

/* "light" of "Shop::light(int)"; *n is its length. */
static const char *last_name(const struct callstack *c, uint32_t function,
			     size_t *n)
{
	const char *name = names_bare(&c->sites->names->functions[function]);
	const char *end = name + strcspn(name, "(.<"), *from = end;

	while (from > name && from[-1] != ':')
		from--;
	*n = (size_t)(end - from);
	return from;
}

/* Is the call with hooks the very one?  Or is this a function that was inlined
 * into it? */
static int is_same_function(const struct callstack *c,
			    const struct open_call *o, const struct word *w)
{
	size_t n_hooked, n_own;
	const char *hooked = last_name(c, o->function, &n_hooked);
	const char *own = last_name(c, w->site->function, &n_own);

	return !strncmp(hooked, "{lambda", 7) ||
	       (n_hooked == n_own && !memcmp(hooked, own, n_own));
}

static void open_call(struct callstack *c, struct thread *t,
		      const struct word *w)
{
	struct stack *s = stack_now(t);
	struct open_call *top = stack_top(s);
	struct frame f = {
		.site = w->site,
		.number = w->number,
		.time = w->time,
		.sp = w->sp,
		.cfa = w->sp + (uint64_t)(int64_t)w->site->cfa_offset,
	};

	if (top && is_hooked(c, top, w)) {
		if (is_same_function(c, top, w) && !w->values) {
			top->told = w->site->function + 1;
			return;
		}
		c->n_calls++;
		c->n_other--; /* it is one */
		stack_open(c, t, s,
			   &(struct open_call){
				   .cfa = top->cfa,
				   .start = w->time,
				   .function = w->site->function,
				   .physical = w->site->physical,
				   .call_site = w->site->call_site,
			   },
			   w->values);
		return;
	}
	callstack_call(c, t, &f, w->values);
}

/* Ends the call or span with that index. */
static void close_open(struct callstack *c, struct thread *t, struct stack *s,
		       uint32_t i, const struct word *w, uint32_t veto)
{
	enum call_end how = CALL_RETURN;
	uint64_t seq;

	t->current = s;
	stack_unwind(c, t, s, i + 1, w->time);
	s->result = w->values;
	s->is_vetoed = veto != UINT32_MAX;
	if (s->is_vetoed)
		how = CALL_UNWOUND;
	else if (s->n_flying)
		how = exceptions_end(s, i);
	c->n_unwound += how == CALL_UNWOUND;
	stack_pop(c, t, s, w->time, how);
	s->result = NULL;
	s->is_vetoed = 0;
	seq = s->calls[i].seq;
	if (!s->lane || seq == NO_SEQ)
		return;
	if (veto != UINT32_MAX)
		lane_mark_thrown(s->lane, seq, veto);
	if (w->values)
		lane_keep_values(s->lane, seq, w->values->data, w->values->n,
				 1);
}

/* The innermost one of that function whose frame is there; others below it were
 * left.  Returns its index + 1, or 0. */
static uint32_t find_open(const struct stack *s, const struct word *w)
{
	for (uint32_t i = s->n; i; i--)
		if (s->calls[i - 1].function == w->site->function &&
		    s->calls[i - 1].cfa > w->sp)
			return i;
	return 0;
}

/* The call that has hooks, too, ends by them. */
static int is_end_of_hooked(struct stack *s, const struct word *w)
{
	for (uint32_t i = s->n; i; i--) {
		struct open_call *o = &s->calls[i - 1];

		if (o->cfa - w->sp - 1 >= FRAME_BYTES)
			break;
		if (o->told != w->site->function + 1)
			continue;
		o->told = 0;
		return 1;
	}
	return 0;
}

static void end_open(struct callstack *c, struct thread *t,
		     const struct word *w, uint32_t veto)
{
	struct stack *s = stack_now(t);
	uint32_t i = find_open(s, w);

	if (w->site->kind == CST_CALL_END && is_end_of_hooked(s, w))
		return;
	if (!i || s->calls[i - 1].cfa - w->sp > FRAME_BYTES) {
		s = jumps_unwind_to(c, t, w->sp, w->time);
		i = find_open(s, w);
	}
	if (i)
		close_open(c, t, s, i - 1, w, veto);
	else
		c->n_orphans++;
}

/* ---- what takes no time ---------------------------------------------------
 */

static void note(struct callstack *c, struct thread *t, const struct word *w,
		 const struct values *v)
{
	struct stack *s = jumps_unwind_to(c, t, w->sp, w->time);

	stack_note(c, t, s, cfa_of(c, s, w), w->site->call_site, w->time,
		   v ? v : &(struct values){.n_refs = 0});
}

/* ---- one record ------------------------------------------------------------
 */

static void take_word(struct callstack *c, struct thread *t,
		      const struct word *w)
{
	switch (w->site->kind) {
	case CST_SPAN:
		open_span(c, t, w);
		break;
	case CST_CALL:
		open_call(c, t, w);
		break;
	case CST_SPAN_END:
	case CST_CALL_END:
		end_open(c, t, w, UINT32_MAX);
		break;
	case CST_VETO:
		end_open(c, t, w, own_place_veto(c->sites));
		break;
	default: /* CST_MESSAGE, CST_COUNT, CST_ASYNC, CST_ASYNC_END */
		note(c, t, w, w->values);
	}
}

void own_words_take(struct callstack *c, struct thread *t,
		    const struct cst_record *r, uint32_t number, uint64_t time)
{
	uint64_t n = cst_record_fp(r);
	const char *text = record_text_take(t, n);
	struct values *v = NULL;
	struct word w = {
		.site = &c->sites->all[number],
		.number = number,
		.sp = cst_record_sp(r),
		.time = time,
	};

	if (t->last_time < c->begin_ticks || w.site->is_excluded)
		return;
	if (t->heir_of)
		fork_inherit(c, t, time, w.sp + 1,
			     w.site->kind == CST_SPAN_END ||
				     w.site->kind == CST_CALL_END ||
				     w.site->kind == CST_VETO);
	if (text && n <= CST_VALUES_MAX)
		v = values_new(text, (uint32_t)n, NULL, 0);
	w.values = v;
	take_word(c, t, &w);
	values_drop(v);
}
