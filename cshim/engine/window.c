/* SPDX-License-Identifier: MIT */
#include "window.h"
#include "callid.h"

#include <stdlib.h>

enum { AROUND = 10, BATCH = 512 };

void window_release(struct window *w)
{
	for (uint32_t i = 0; w->lanes && i < w->n_lanes; i++)
		free(w->lanes[i].calls);
	free(w->lanes);
	*w = (struct window){0};
}

/* What one pass over the visible calls looks for. */
struct search {
	struct callid id;
	uint32_t thread; /* index, or UINT32_MAX: just count */
	uint64_t n, n_seeds, found_at;
	int is_found;
};

static int search_run(struct search *s, struct view *v, struct cst_error *err)
{
	struct shown calls[BATCH];
	int n;

	while ((n = view_next(v, calls, BATCH, err)) > 0) {
		for (int i = 0; i < n; i++) {
			if (s->thread != UINT32_MAX &&
			    calls[i].thread != s->thread)
				continue;
			if (s->thread != UINT32_MAX &&
			    calls[i].number == s->id.number &&
			    calls[i].is_seed == s->id.is_seed) {
				s->found_at = s->n;
				s->is_found = 1;
			}
			s->n++;
			s->n_seeds += calls[i].is_seed;
		}
	}
	return n;
}

static int search(const struct cst_trace *t, const struct cst_choice *choice,
		  struct search *s, struct cst_error *err)
{
	struct view *v;
	int status = view_new(t, choice, 0, &v, err);

	if (status < 0)
		return status;
	status = search_run(s, v, err);
	view_free(v);
	return status;
}

/* Is it hidden, or was it never made? */
static int not_found(const struct cst_trace *t, const struct search *s,
		     const char *id, struct cst_error *err)
{
	struct cst_choice all = {.std = 1};
	struct search again = {.id = s->id, .thread = s->thread};
	int status = search(t, &all, &again, err);

	if (status < 0)
		return status;
	if (again.is_found)
		return cst_fail(CST_BAD_INPUT, err,
				"call %.60s is hidden by the filters", id);
	return cst_fail(CST_BAD_INPUT, err,
			"no call %.60s: thread %u made %llu calls", id,
			s->id.thread,
			(unsigned long long)(again.n - again.n_seeds));
}

static int window_around(struct window *w, const struct cst_trace *t,
			 const struct cst_choice *choice, struct cst_error *err)
{
	struct search s = {0};
	int status = callid_parse(choice->around, &s.id, err);

	if (status == 0)
		status = callid_thread(t, &s.id, &s.thread, err);
	if (status == 0)
		status = search(t, choice, &s, err);
	if (status < 0)
		return status;
	if (!s.is_found)
		return not_found(t, &s, choice->around, err);
	w->only = s.thread;
	w->from = s.found_at > AROUND ? s.found_at - AROUND : 0;
	w->to = s.found_at + AROUND + 1;
	return 0;
}

static int window_last(struct window *w, const struct cst_trace *t,
		       const struct cst_choice *choice, struct cst_error *err)
{
	struct search s = {.thread = UINT32_MAX};
	int status = search(t, choice, &s, err);

	if (status < 0)
		return status;
	w->from = s.n > choice->last ? s.n - choice->last : 0;
	return 0;
}

int window_init(struct window *w, const struct cst_trace *t,
		const struct cst_choice *choice, struct cst_error *err)
{
	int status;

	*w = (struct window){.to = UINT64_MAX, .only = UINT32_MAX};
	if (!choice->around && !choice->last)
		return 0;
	status = choice->around ? window_around(w, t, choice, err)
				: window_last(w, t, choice, err);
	if (status < 0)
		return status;
	w->lanes = calloc(t->n_lanes + 1, sizeof(*w->lanes));
	w->n_lanes = t->n_lanes;
	return w->lanes ? 0 : cst_fail_memory(err);
}

static int lane_keep(struct window_lane *l, const struct shown *call)
{
	if (call->depth >= l->cap) {
		uint64_t cap = (uint64_t)call->depth * 2 + 16;
		void *p = realloc(l->calls, cap * sizeof(*l->calls));

		if (!p || cap > UINT32_MAX) {
			l->calls = p ? p : l->calls;
			return CST_MEMORY;
		}
		l->calls = p;
		/* Deeper ones than the first may lack their callers, where
		 * only one thread of the lane is seen. */
		memset(l->calls + l->cap, 0,
		       (cap - l->cap) * sizeof(*l->calls));
		l->cap = (uint32_t)cap;
	}
	l->calls[call->depth] = *call;
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
	if (w->at++ < w->from || w->at > w->to)
		return 0;
	if (!l->is_begun) {
		l->is_begun = 1;
		*callers = l->calls;
		*n_callers = call->depth;
	}
	return 1;
}
