/* SPDX-License-Identifier: MIT
 *
 * Finds the part of a trace that holds the last visible calls, or those around
 * an ID, with as few blocks unpacked as possible.
 */
#include "trace/window.h"
#include "base/array.h"
#include "trace/locate.h"
#include "trace/thread_choice.h"

#include <stdlib.h>

enum { AROUND = 10 };

void window_release(struct window *w)
{
	for (uint32_t i = 0; w->lanes && i < w->n_lanes; i++) {
		for (uint32_t j = 0; j < w->lanes[i].n; j++)
			values_drop(w->lanes[i].calls[j].values);
		free(w->lanes[i].calls);
	}
	free(w->lanes);
	free(w->walked);
	*w = (struct window){0};
}

/* One pass over the visible calls from some tick on. */
struct search {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct thread_choice threads;
	struct walk_part part;
	/* What is looked for; thread UINT32_MAX: the end. */
	struct callid id;
	uint32_t thread; /* index */
	uint64_t tick, start_ns, until_ns;
	uint64_t n, found_at; /* calls seen; of them before the one */
	int is_found;
};

static int is_wanted(const struct search *s, const struct pack_info *info)
{
	if (info->flags & PACK_THREADS)
		return 1;
	if (s->thread != UINT32_MAX)
		return info->thread == s->thread;
	return thread_choice_has(&s->threads, &s->t->threads[info->thread]);
}

/* Where to begin so that about `want` calls come before the tick.  If they are
 * fewer, the search is made again with more. */
static uint64_t begin_before(const struct search *s, uint64_t want)
{
	uint64_t n = 0;

	for (uint32_t i = s->t->n_blocks; i-- > 0;) {
		const struct pack_info *info = &s->t->blocks[i].info;

		if (!is_wanted(s, info) || info->first_tick > s->tick)
			continue;
		n += info->last_tick < s->tick ? info->n_calls : 0;
		if (n >= want)
			return info->first_tick;
	}
	return 0;
}

/* 1: the one was found, or it is too late for it. */
static int search_call(struct search *s, const struct shown *call)
{
	if (call->is_before)
		return 0;
	if (s->thread == UINT32_MAX) {
		if (!call->is_seed && call->start_ns > s->until_ns)
			return 1;
		s->n++;
		return 0;
	}
	if (!call->is_seed && call->start_ns > s->start_ns)
		return 1;
	if (call->thread != s->thread)
		return 0;
	if (call->number == s->id.number && call->is_seed == s->id.is_seed) {
		s->is_found = 1;
		s->found_at = s->n;
	}
	s->n++;
	return s->is_found;
}

static int search_run(struct search *s, struct view *v, struct cst_error *err)
{
	struct shown *call;
	int got;

	s->n = 0;
	s->is_found = 0;
	while ((got = view_next(v, &call, err)) > 0)
		if (search_call(s, call))
			return 0;
	return got;
}

/* Begin so early that `want` visible calls come before the one, or the end. */
static int search(struct search *s, uint64_t want, struct cst_error *err)
{
	for (uint64_t n = want;; n = n < UINT64_MAX / 8 ? n * 8 : UINT64_MAX) {
		struct view *v;
		int status;

		s->part.from = s->choice->root ? 0 : begin_before(s, n);
		status = view_new_part(s->t, s->choice, &s->part, 0, &v, err);
		if (status < 0)
			return status;
		status = search_run(s, v, err);
		view_free(v);
		if (status < 0 || !s->part.from || s->n > want ||
		    (s->thread != UINT32_MAX && !s->is_found))
			return status;
	}
}

/* The lanes that the thread's calls may be on. */
static int window_lanes(struct window *w, const struct search *s)
{
	w->walked = calloc(s->t->n_lanes + (size_t)1, 1);
	if (!w->walked)
		return CST_MEMORY;
	for (uint32_t i = 0; i < s->t->n_blocks; i++) {
		const struct pack_info *info = &s->t->blocks[i].info;

		if (is_wanted(s, info))
			w->walked[info->lane] = 1;
	}
	return 0;
}

static int not_found(const struct search *s, struct cst_error *err)
{
	int64_t n = locate_count(s->t, s->thread, err);

	if (n < 0)
		return (int)n;
	return cst_fail(CST_BAD_INPUT, err,
			"no call %.60s: thread %u made %lld calls",
			s->choice->around, s->id.thread, (long long)n);
}

/* Where nothing else was asked for, it is the default that hides it. */
static int hidden(const struct cst_choice *c, struct cst_error *err)
{
	int is_filtered = c->filter || c->exclude || c->depth || c->min_ns ||
			  c->where || c->thread || c->root || c->std ||
			  c->range_from_ns || c->range_until_ns;

	if (is_filtered)
		return cst_fail(CST_BAD_INPUT, err,
				"call %.60s is hidden by the filters",
				c->around);
	return cst_fail(CST_BAD_INPUT, err,
			"call %.60s is the C++ library's or a system header's, "
			"which %s shows",
			c->around,
			c->words == CST_WORDS_GDB ? "`set cstrace std on`"
						  : "--std");
}

static int window_around(struct window *w, struct search *s,
			 struct cst_error *err)
{
	int status = callid_parse(s->choice->around, &s->id, err);

	if (status == 0)
		status = callid_thread(s->t, &s->id, &s->thread, err);
	if (status == 0)
		status = locate_call(s->t, &s->id, s->thread, &s->tick, NULL,
				     err);
	if (status < 0)
		return status;
	if (status == 0)
		return not_found(s, err);
	if (window_lanes(w, s) < 0)
		return cst_fail_memory(err);
	s->part.lanes = w->walked;
	s->part.until = s->tick;
	s->start_ns = s->tick < s->t->start_ticks
			      ? 0
			      : trace_ns(s->t, s->tick - s->t->start_ticks);
	status = search(s, AROUND, err);
	s->part.until = 0;
	if (status < 0)
		return status;
	if (!s->is_found)
		return hidden(s->choice, err);
	w->only = s->thread;
	w->from = s->found_at > AROUND ? s->found_at - AROUND : 0;
	w->to = s->found_at + AROUND + 1;
	return 0;
}

static int window_last(struct window *w, struct search *s,
		       struct cst_error *err)
{
	int status;

	s->thread = UINT32_MAX;
	s->tick = s->until_ns = UINT64_MAX;
	status = search(s, s->choice->last, err);
	if (status < 0)
		return status;
	w->from = s->n > s->choice->last ? s->n - s->choice->last : 0;
	return 0;
}

/* The last calls that began by then, and the first ones after. */
static int window_at(struct window *w, struct search *s, struct cst_error *err)
{
	const struct cst_trace *t = s->t;
	unsigned __int128 ticks =
		((unsigned __int128)s->choice->at_ns << t->ns_shift) /
		(t->ns_mult ? t->ns_mult : 1);
	int status;

	s->thread = UINT32_MAX;
	s->until_ns = s->choice->at_ns;
	s->tick = ticks < UINT64_MAX - t->start_ticks
			  ? t->start_ticks + (uint64_t)ticks
			  : UINT64_MAX;
	status = search(s, AROUND, err);
	if (status < 0)
		return status;
	w->from = s->n > AROUND ? s->n - AROUND : 0;
	w->to = s->n + AROUND;
	return 0;
}

int window_init(struct window *w, const struct cst_trace *t,
		const struct cst_choice *choice, struct cst_error *err)
{
	struct search s = {.t = t, .choice = choice};
	int status;

	*w = (struct window){.to = UINT64_MAX, .only = UINT32_MAX};
	if (!choice->around && !choice->last && !choice->has_at)
		return 0;
	status = thread_choice_init(&s.threads, t, choice, err);
	if (status < 0)
		return status;
	status = choice->around	  ? window_around(w, &s, err)
		 : choice->has_at ? window_at(w, &s, err)
				  : window_last(w, &s, err);
	if (status < 0)
		return status;
	w->part = s.part;
	w->lanes = calloc(t->n_lanes + (size_t)1, sizeof(*w->lanes));
	w->n_lanes = t->n_lanes;
	return w->lanes ? 0 : cst_fail_memory(err);
}

static int lane_keep(struct window_lane *l, const struct shown *call)
{
	/* Deeper ones than the first may lack their callers, where only one
	 * thread of the lane is seen. */
	if (array_room(&l->calls, &l->cap, call->depth + 1ull) < 0)
		return CST_MEMORY;
	while (l->n <= call->depth)
		l->calls[l->n++].values = NULL;
	values_drop(l->calls[call->depth].values);
	l->calls[call->depth] = *call;
	l->calls[call->depth].values = values_keep(call->values);
	return 0;
}

int window_take(struct window *w, const struct shown *call,
		const struct shown **callers, uint32_t *n_callers)
{
	struct window_lane *l = &w->lanes[call->lane];

	*n_callers = 0;
	if (w->only != UINT32_MAX && call->thread != w->only)
		return 0;
	if (lane_keep(l, call) < 0)
		return CST_MEMORY;
	if (call->is_before || w->at++ < w->from || w->at > w->to)
		return 0;
	if (!l->is_begun) {
		l->is_begun = 1;
		*callers = l->calls;
		*n_callers = call->depth;
	}
	return 1;
}
