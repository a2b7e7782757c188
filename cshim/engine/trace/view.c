/* SPDX-License-Identifier: MIT
 *
 * Each lane keeps, for each depth, what the call there hands down to its
 * callees: the filter's state and the nearest visible call.  Of a large trace a
 * thread of its own unpacks the calls and picks them, ahead of who asks.
 */
#include "trace/view.h"
#include "base/array.h"
#include "base/pipeline.h"
#include "base/search.h"
#include "names/marks.h"
#include "trace/answer.h"
#include "trace/async_times.h"
#include "trace/callers.h"
#include "trace/locate.h"
#include "trace/thread_choice.h"

#include <stdlib.h>

enum {
	/* Gone through in one go, whether visible or not: who has enough soon
	 * never waits long, nor for a thread. */
	GO = 1 << 16,
	BATCH = 512,
	AHEAD_BLOCK = PUMP_BLOCK / sizeof(struct shown),
};

/* No caller is shown. */
static const uint32_t NO_SITE = UINT32_MAX;

struct level {
	struct filter_state below;
	uint64_t number; /* of the nearest visible call */
	uint32_t thread;
	uint32_t from;	 /* as in struct shown, or NO_SITE */
	uint32_t caller; /* the nearest visible call's function, or CALLER_NONE
			  */
	uint8_t parent;	 /* enum parent_kind */
	uint8_t is_hidden;
};

struct view_lane {
	struct level *levels; /* levels[0] is the root: calls start at 1 */
	uint32_t cap;
};

/* Where the call is below which all visible calls lie. */
struct root {
	enum { ROOT_ANY = 0, ROOT_AHEAD, ROOT_AROUND, ROOT_OVER } state;
	struct callid id;
	uint32_t thread, lane, depth;
};

struct picker {
	struct view view; /* the first member */
	const struct cst_trace *t;
	struct walk *walk;
	struct filter *filter;
	struct view_lane *lanes;
	struct where *where; /* or NULL */
	uint64_t min_ns;
	uint64_t until; /* tick: no later call is visible */
	struct thread_choice threads;
	struct span span;
	struct root root;
	struct run run;
	uint32_t at; /* in the run */
	int has_run;
	int is_caller; /* the call is none of the run's: its values are not
			  there */
	uint8_t *has_thread;  /* lanes on which a chosen one may be */
	struct shown *before; /* callers not yet passed on, with own values */
	uint32_t n_before, at_before, cap_before;
	int hides_instants;
	uint64_t n_seen; /* calls gone through, visible or not */
	uint64_t n_shown, n_notes, n_std;
	int is_over, has_counts;

	/* The values of the calls that are being picked; their fields have the
	 * places in here until no more are picked. */
	struct bytes values;
	struct bytes batch_values;
	struct shown batch[BATCH];
	/* Once there is a thread, which has all of the above. */
	struct pipeline *ahead;
};

static int no_root(const struct root *r, const struct cst_trace *t,
		   struct cst_error *err)
{
	char id[CALLID_MAX];
	char *end = callid_put(id, &t->threads[r->thread], r->id.number,
			       r->id.is_seed);

	return cst_fail(CST_BAD_INPUT, err, "no call %.*s in this trace",
			(int)(end - id), id);
}

/* What lies before the root is not walked. */
static int root_init(struct root *r, const struct cst_trace *t, const char *id,
		     struct walk_part *part, struct cst_error *err)
{
	uint64_t tick;
	int status = callid_parse(id, &r->id, err);

	if (status == 0)
		status = callid_thread(t, &r->id, &r->thread, err);
	if (status == 0)
		status = locate_call(t, &r->id, r->thread, &tick, NULL, err);
	if (status <= 0)
		return status < 0 ? status : no_root(r, t, err);
	r->state = ROOT_AHEAD;
	if (tick > part->from)
		part->from = tick;
	return 0;
}

/* No need to walk the lanes that no chosen thread was ever on. */
static int view_lanes(struct picker *p, struct walk_part *part)
{
	const struct cst_trace *t = p->t;

	p->has_thread = calloc(t->n_lanes + (size_t)1, 1);
	if (!p->has_thread)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->n_blocks; i++) {
		const struct pack_info *info = &t->blocks[i].info;

		if ((info->flags & PACK_THREADS ||
		     thread_choice_has(&p->threads,
				       &t->threads[info->thread])) &&
		    (!part->lanes || part->lanes[info->lane]))
			p->has_thread[info->lane] = 1;
	}
	part->lanes = p->has_thread;
	return 0;
}

/* What lies outside need not be walked. */
static void span_part(const struct span *s, struct walk_part *part)
{
	if (s->from > part->from)
		part->from = s->from;
	if (s->until < UINT64_MAX && (!part->until || s->until < part->until))
		part->until = s->until;
}

int view_new(const struct cst_trace *t, const struct cst_choice *choice,
	     int is_by_lane, struct view **out, struct cst_error *err)
{
	const struct walk_part all = {0};

	return view_new_part(t, choice, &all, is_by_lane, out, err);
}

void view_hide_instants(struct view *v)
{
	((struct picker *)v)->hides_instants = 1;
}

int view_new_calls(const struct cst_trace *t, const struct cst_choice *choice,
		   int is_by_lane, struct view **out, struct cst_error *err)
{
	int status = view_new(t, choice, is_by_lane, out, err);

	if (status == 0)
		view_hide_instants(*out);
	return status;
}

int view_new_part(const struct cst_trace *t, const struct cst_choice *choice,
		  const struct walk_part *wanted, int is_by_lane,
		  struct view **out, struct cst_error *err)
{
	struct walk_part part = *wanted, range = walk_range(t, choice);
	struct picker *p;
	struct thread_choice threads;
	int status = thread_choice_init(&threads, t, choice, err);

	if (status < 0)
		return status;
	p = calloc(1, sizeof(*p));
	if (!p)
		return cst_fail_memory(err);
	p->t = t;
	p->min_ns = choice->min_ns;
	p->until = range.until ? range.until : UINT64_MAX;
	if (range.from > part.from)
		part.from = range.from;
	if (range.until && (!part.until || range.until < part.until))
		part.until = range.until;
	p->threads = threads;
	p->has_counts = !choice->last && !choice->around;
	p->lanes = calloc(t->n_lanes + 1, sizeof(*p->lanes));
	status = p->lanes ? filter_new(choice, &p->filter, err)
			  : cst_fail_memory(err);
	if (status == 0 && choice->where)
		status = where_new(choice->where, &p->where, err);
	if (status == 0)
		status = span_init(&p->span, t, choice, err);
	if (status == 0 && choice->root)
		status = root_init(&p->root, t, choice->root, &part, err);
	span_part(&p->span, &part);
	if (status == 0 && !thread_choice_is_all(&threads) &&
	    view_lanes(p, &part) < 0)
		status = cst_fail_memory(err);
	if (status == 0)
		status = walk_new_part(t, &part, is_by_lane, &p->walk, err);
	if (status < 0) {
		view_free(&p->view);
		return status;
	}
	*out = &p->view;
	return 0;
}

static void drop_before(struct picker *p)
{
	for (uint32_t i = 0; i < p->n_before; i++)
		values_drop(p->before[i].values);
	p->n_before = p->at_before = 0;
}

void view_free(struct view *v)
{
	struct picker *p = (struct picker *)v;

	if (!p)
		return;
	pipeline_free(p->ahead);
	p->t->answer->n_notes = p->n_notes;
	answer_set(p->t->answer, p->n_shown, p->n_std,
		   p->has_counts && p->is_over);
	for (uint32_t i = 0; p->lanes && i < p->t->n_lanes; i++)
		free(p->lanes[i].levels);
	free(p->lanes);
	free(p->has_thread);
	drop_before(p);
	free(p->before);
	bytes_release(&p->values);
	bytes_release(&p->batch_values);
	where_free(p->where);
	filter_free(p->filter);
	walk_free(p->walk);
	free(p);
}

static int lane_levels(struct picker *p, struct view_lane *l, uint32_t depth)
{
	const int is_new = !l->cap;

	if (array_room(&l->levels, &l->cap, depth + 2ull) < 0)
		return CST_MEMORY;
	if (is_new)
		l->levels[0] = (struct level){.below = filter_root(p->filter),
					      .from = NO_SITE,
					      .caller = CALLER_NONE,
					      .is_hidden = 1};
	return 0;
}

static uint64_t shown_start(const struct cst_trace *t,
			    const struct packed_call *c)
{
	return c->start < t->start_ticks
		       ? 0
		       : trace_ns(t, c->start - t->start_ticks);
}

/* Returns the number of the first pause that began after this tick. */
static uint32_t pause_after(const struct cst_trace *t, uint64_t tick)
{
	return search_while(i, t->n_pauses, t->pauses[i].at <= tick);
}

uint32_t call_stops(const struct cst_trace *t, const struct packed_call *c,
		    uint32_t lane)
{
	int is_open = c->end == CALL_OPEN;
	uint64_t end =
		is_open ? t->lanes[lane].end_ticks : c->start + c->duration;
	uint32_t now = is_open && t->is_stopped && end == t->end_ticks;
	uint32_t first;

	if (!t->n_pauses || end <= c->start)
		return now;
	first = pause_after(t, c->start);
	if (first == t->n_pauses || t->pauses[first].at >= end)
		return now;
	return pause_after(t, end - 1) - first + now;
}

static inline uint8_t is_marked(const struct picker *p, const struct shown *s)
{
	const struct trace_thread *t = &p->t->threads[s->thread];

	return !s->is_seed &&
	       marks_of(p->t->names, t->process, t->ordinal, s->number) != 0;
}

static inline void shown_fill(const struct picker *p,
			      const struct packed_call *c,
			      const struct level *above, struct shown *out)
{
	out->start_ns = shown_start(p->t, c);
	out->parent_number = above->number;
	out->parent_thread = above->thread;
	out->parent = above->parent;
	out->caller = above->caller;
	out->lane = p->run.lane;
	out->site = c->site;
	out->depth = above->below.depth;
	out->thrown = c->thrown;
	out->values = NULL;
	out->is_seed = c->is_seed;
	out->n_stops = call_stops(p->t, c, p->run.lane);
	out->is_before = 0;
}

/* Is the call the root, or does it lie below it? */
static int root_holds(struct root *r, const struct packed_call *c,
		      uint32_t lane, uint32_t thread, uint64_t number)
{
	if (r->state == ROOT_AHEAD && thread == r->thread &&
	    number == r->id.number && c->is_seed == r->id.is_seed) {
		r->state = ROOT_AROUND;
		r->lane = lane;
		r->depth = c->depth;
		return 1;
	}
	if (r->state != ROOT_AROUND || lane != r->lane)
		return 0;
	if (c->depth <= r->depth)
		r->state = ROOT_OVER;
	return r->state == ROOT_AROUND;
}

/* Above the root nothing is shown, but what would be is where hidden calls
 * below it come from. */
static void view_outside(struct picker *p, const struct packed_call *c,
			 struct level *here)
{
	const struct names *names = p->t->names;
	uint32_t function = names->sites[c->site].function;
	struct level level = {.below = filter_root(p->filter),
			      .from = here->from};
	struct filter_state below;

	level.is_hidden =
		!filter_enter(p->filter, names, function, level.below, &below);
	level.caller = level.is_hidden ? here[-1].caller : function;
	*here = level;
}

/* A call that would be visible if the C++ library's were. */
static int is_std_alone(const struct picker *p, const struct packed_call *c,
			uint32_t thread, const struct filter_state *below)
{
	const struct names *names = p->t->names;

	return below->is_inside && span_holds(&p->span, c->start) &&
	       (!p->min_ns ||
		call_duration_ns(p->t, c, p->run.lane) >= p->min_ns) &&
	       thread_choice_has(&p->threads, &p->t->threads[thread]) &&
	       filter_hides_std(p->filter, names,
				names->sites[c->site].function);
}

/* Does the call's time hide it, or its values? */
static int is_hidden(const struct picker *p, const struct packed_call *c,
		     const struct function *f, uint64_t duration_ns)
{
	return duration_ns < p->min_ns ||
	       (p->where &&
		(p->is_caller || !run_meets(&p->run, p->at, c, f, p->where)));
}

/* How long the call took, and how it ended. */
static inline void shown_times(const struct picker *p,
			       const struct packed_call *c,
			       const struct function *f, struct shown *out)
{
	out->duration_ns = call_duration_ns(p->t, c, p->run.lane);
	out->end = c->end;
	if (unlikely(function_is_async(f)) && !p->is_caller)
		async_times_of(p->t, &p->run, p->at, c, &out->duration_ns,
			       &out->end);
}

/* One call: 1 when it is visible. */
static inline int view_call(struct picker *p, const struct packed_call *c,
			    uint64_t number, uint32_t thread,
			    struct level *here, struct shown *out)
{
	const struct level *above = here - 1;
	const struct names *names = p->t->names;
	uint32_t function = names->sites[c->site].function;
	const struct function *f = &names->functions[function];
	int is_visible;

	if (c->start > p->until) /* so do those below and behind it */
		return 0;
	here->from = above->is_hidden ? above->from : c->site;
	if (p->root.state != ROOT_ANY &&
	    !root_holds(&p->root, c, p->run.lane, thread, number)) {
		view_outside(p, c, here);
		return 0;
	}
	is_visible = filter_enter(p->filter, names, function, above->below,
				  &here->below);
	/* What takes no time calls nothing. */
	if (p->hides_instants && function_is_instant(f))
		return 0;
	here->is_hidden = !is_visible;
	here->number = above->number;
	here->thread = above->thread;
	here->parent = above->parent;
	here->caller = is_visible ? function : above->caller;
	if (!is_visible) {
		p->n_std +=
			!f->kind && is_std_alone(p, c, thread, &here->below);
		return 0;
	}
	if (!span_holds(&p->span, c->start)) {
		here->below.depth = above->below.depth;
		return 0;
	}
	shown_times(p, c, f, out);
	if (is_hidden(p, c, f, out->duration_ns)) {
		here->below.depth = above->below.depth;
		here->is_hidden = 1;
		here->caller = above->caller;
		return 0;
	}
	shown_fill(p, c, above, out);
	out->from = here->from == NO_SITE ? c->site : here->from;
	out->number = here->number = number;
	out->thread = here->thread = thread;
	out->is_marked = is_marked(p, out);
	here->parent = c->is_seed ? PARENT_SEED : PARENT_CALL;
	if (!thread_choice_has(&p->threads, &p->t->threads[thread]))
		return 0;
	out->is_note = f->kind != KIND_FUNCTION;
	if (out->is_note)
		p->n_notes++;
	else
		p->n_shown++;
	return 1;
}

/* Puts values where those of what is picked are, and returns their place; 0:
 * there is no memory. */
static size_t put_values(struct picker *p, const uint8_t *bytes, uint32_t n,
			 uint32_t n_result)
{
	size_t at;

	if (!p->values.len) /* no place is 0 */
		bytes_put(&p->values, &(uint64_t){0}, sizeof(uint64_t));
	at = values_put(&p->values, bytes, n, bytes + n, n_result);
	return p->values.failed ? 0 : at;
}

/* A caller that lies before what is viewed. */
static void pass_on(struct picker *p, const struct shown *from,
		    struct shown *out)
{
	const struct values *v = from->values;

	*out = *from;
	if (v)
		out->values = (const struct values *)put_values(
			p, v->data, v->n, v->n_result);
}

static void pick_values(struct picker *p, uint32_t i, struct shown *out)
{
	const struct valued *v = block_values_of(p->run.values, p->run.at + i);
	size_t at = put_values(p, p->run.values->bytes.data + v->at, v->n,
			       v->n_result);

	if (at)
		out->values = (const struct values *)at;
}

/* Turns the places that values were put at into pointers: they are at bytes
 * now. */
static void settle_values(const struct picker *p, struct shown *calls,
			  uint32_t n, const uint8_t *bytes)
{
	if (!p->values.len)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (calls[i].values)
			calls[i].values =
				(const struct values
					 *)(bytes + (size_t)calls[i].values);
}

/* Go through the run as far as there is room. */
static int view_run(struct picker *p, struct shown *out, uint32_t cap)
{
	struct view_lane *l = &p->lanes[p->run.lane];
	uint32_t n = 0, from = p->at;

	for (; p->at < p->run.n && n < cap; p->at++) {
		const uint32_t i = p->at;
		const struct packed_call *c = &p->run.calls[i];

		if (c->depth + 1 >= l->cap && lane_levels(p, l, c->depth) < 0)
			return CST_MEMORY;
		if (!view_call(p, c,
			       p->run.numbers ? p->run.numbers[i]
					      : p->run.first_number + i,
			       p->run.threads ? p->run.threads[i]
					      : p->run.thread,
			       &l->levels[c->depth + 1], &out[n]))
			continue;
		if (c->has_values && p->run.values)
			pick_values(p, i, &out[n]);
		n++;
	}
	p->n_seen += p->at - from;
	if (p->at == p->run.n) {
		p->has_run = 0;
		if (p->run.is_last) {
			if (p->root.state == ROOT_AROUND &&
			    p->run.lane == p->root.lane)
				p->root.state = ROOT_OVER;
			free(l->levels);
			*l = (struct view_lane){0};
		}
	}
	return (int)n;
}

/* The run's lane begins midway: its levels are those of its callers. */
static int view_callers(struct picker *p, struct cst_error *err)
{
	struct view_lane *l = &p->lanes[p->run.lane];
	uint64_t n_shown = p->n_shown, n_std = p->n_std;
	uint64_t n_notes = p->n_notes;
	uint32_t depth = p->run.calls[0].depth;
	struct caller *callers;
	int status = callers_find(p->t, p->run.block, p->run.at, depth,
				  &callers, err);

	if (status < 0)
		return status;
	if (lane_levels(p, l, depth) < 0 ||
	    array_room(&p->before, &p->cap_before, depth + 1ull) < 0)
		status = cst_fail_memory(err);
	drop_before(p);
	p->is_caller = 1;
	for (uint32_t i = 0; i < depth && status == 0; i++) {
		struct shown *s = &p->before[p->n_before];

		if (!view_call(p, &callers[i].call, callers[i].number,
			       callers[i].thread, &l->levels[i + 1], s))
			continue;
		s->is_before = 1;
		s->values = callers[i].values;
		callers[i].values = NULL;
		p->n_before++;
	}
	p->is_caller = 0;
	/* The user of a part counts the part's calls alone. */
	p->n_shown = n_shown;
	p->n_std = n_std;
	p->n_notes = n_notes;
	callers_free(callers, depth);
	return status;
}

/* 1: there is a run. */
static int view_next_run(struct picker *p, struct cst_error *err)
{
	int got;

	if (p->has_run)
		return 1;
	got = walk_next(p->walk, &p->run, err);
	if (got == 0 && p->root.state == ROOT_AHEAD)
		return no_root(&p->root, p->t, err);
	if (got <= 0)
		return got;
	p->has_run = 1;
	p->at = 0;
	if (p->run.is_midway && p->run.calls[0].depth)
		got = view_callers(p, err);
	return got < 0 ? got : 1;
}

/* Up to cap calls; 0 may also mean that none was visible so far. */
static int view_go(struct picker *p, struct shown *out, uint32_t cap,
		   struct cst_error *err)
{
	uint64_t until = p->n_seen + GO;
	uint32_t n = 0;

	while (n < cap && p->n_seen < until && !p->is_over) {
		int got = view_next_run(p, err);

		if (got < 0)
			return got;
		p->is_over = got == 0;
		if (got == 0)
			break;
		for (; p->at_before < p->n_before && n < cap; n++)
			pass_on(p, &p->before[p->at_before++], &out[n]);
		got = view_run(p, out + n, cap - n);
		if (got < 0)
			return cst_fail_memory(err);
		n += (uint32_t)got;
		p->is_over = p->root.state == ROOT_OVER;
	}
	return (int)n;
}

/* The calls, their values, and how many calls there are. */
static int view_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct picker *p = arg;
	struct shown *calls = (struct shown *)bytes_reserve(
		out, AHEAD_BLOCK * sizeof(*calls) + sizeof(uint64_t));
	uint64_t count;
	int n;

	if (!calls)
		return cst_fail_memory(err);
	p->values.len = 0;
	n = view_go(p, calls, AHEAD_BLOCK, err);
	if (n < 0)
		return n;
	count = (uint64_t)n;
	out->len = (size_t)n * sizeof(*calls);
	bytes_put(out, p->values.data, p->values.len);
	bytes_put(out, &count, sizeof(count));
	if (out->failed)
		return cst_fail_memory(err);
	calls = (struct shown *)out->data;
	settle_values(p, calls, (uint32_t)n, (uint8_t *)(calls + n));
	return !p->is_over;
}

/* Calls that the thread has ready. */
static int view_ready(struct picker *p, struct cst_error *err)
{
	const struct bytes *b;
	int got = pipeline_next(p->ahead, &b, err);
	uint64_t n;

	if (got > 0) {
		memcpy(&n, b->data + b->len - sizeof(n), sizeof(n));
		p->view.next = (struct shown *)b->data;
		p->view.end = p->view.next + n;
	}
	return got;
}

int view_more(struct view *v, struct cst_error *err)
{
	struct picker *p = (struct picker *)v;
	struct bytes batch_values;
	int got = p->hides_instants ? 0 : async_times_find(p->t, err);

	if (got < 0)
		return got;
	got = 1;
	while (got > 0 && v->next == v->end && (p->ahead || !p->is_over)) {
		if (p->ahead) {
			got = view_ready(p, err);
			continue;
		}
		p->values.len = 0;
		got = view_go(p, p->batch, BATCH, err);
		if (got < 0)
			break;
		settle_values(p, p->batch, (uint32_t)got, p->values.data);
		batch_values = p->batch_values;
		p->batch_values = p->values;
		p->values = batch_values;
		v->next = p->batch;
		v->end = p->batch + got;
		got = 1;
		if (p->n_seen >= GO && !p->is_over)
			p->ahead = pipeline_new(view_fill, p);
	}
	return got > 0 ? v->next < v->end : got;
}
