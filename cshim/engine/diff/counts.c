/* SPDX-License-Identifier: MIT
 *
 * Reads two traces and counts their calls by caller and call site, adds up
 * times, hashes each lane's flow, and pairs the lanes by these.
 */
#include "diff/counts.h"
#include "base/array.h"
#include "trace/view.h"

#include <stdlib.h>

void counts_release(struct counts *y)
{
	for (int t = 0; t < 2; t++) {
		free(y->lanes[t]);
		free(y->times[t]);
	}
	free(y->edges);
	pairs_release(&y->pairs);
	*y = (struct counts){0};
}

static int edge_count(struct counts *y, uint32_t t, uint32_t caller,
		      const struct shown *call)
{
	uint32_t site = y->functions->sites[t][call->site];
	uint32_t i = pairs_number(&y->pairs, caller, site, NO_PAIR);
	struct counts_edge *e;

	if (i == NO_PAIR || array_room(&y->edges, &y->cap_edges, i + 1ull) < 0)
		return CST_MEMORY;
	e = &y->edges[i];
	if (!e->n[0] && !e->n[1])
		*e = (struct counts_edge){.caller = caller,
					  .site = site,
					  .trace = t,
					  .first_site = call->site,
					  .first_from = call->from};
	e->n[t]++;
	return 0;
}

/* ---- one trace ---------------------------------------------------------- */

struct pass {
	struct counts *y;
	uint32_t trace;
	uint32_t *callers; /* joint functions; callers[0] is the root */
	uint32_t cap;
	uint32_t lane;
};

static int callers_room(struct pass *p, uint32_t depth)
{
	uint32_t cap = p->cap;

	if (array_room(&p->callers, &p->cap, depth + 2ull) < 0)
		return CST_MEMORY;
	/* Where only one thread of a lane is seen, callers may lack. */
	for (; cap < p->cap; cap++)
		p->callers[cap] = COUNTS_NO_CALLER;
	return 0;
}

static int begin_lane(struct pass *p, const struct shown *s, uint32_t function)
{
	struct counts *y = p->y;
	uint32_t t = p->trace;
	const struct cst_trace *trace = y->functions->traces[t];
	const struct trace_lane *lane = &trace->lanes[s->lane];

	if (array_room(&y->lanes[t], &y->cap_lanes[t], y->n_lanes[t] + 1ull) <
	    0)
		return CST_MEMORY;
	y->lanes[t][y->n_lanes[t]++] = (struct counts_lane){
		.lane = s->lane,
		.process = trace->threads[lane->thread].process,
		.thread = trace->threads[lane->thread].ordinal,
		.first = function,
		.partner = NO_PARTNER,
	};
	p->lane = s->lane;
	for (uint32_t i = 0; i < p->cap; i++)
		p->callers[i] = COUNTS_NO_CALLER;
	return 0;
}

static int take_call(struct pass *p, const struct shown *s)
{
	struct counts *y = p->y;
	uint32_t site = y->functions->sites[p->trace][s->site];
	uint32_t function = y->functions->site_items[site].function;
	struct counts_lane *lane;

	if (callers_room(p, s->depth + 1) < 0 ||
	    (s->lane != p->lane && begin_lane(p, s, function) < 0) ||
	    edge_count(y, p->trace, p->callers[s->depth], s) < 0)
		return CST_MEMORY;
	total_enter(&y->times[p->trace][function], s->duration_ns, s->n_stops,
		    s->depth + 1, p->callers, sizeof(*p->callers), function);
	if (!s->depth)
		y->root_ns[p->trace] += s->duration_ns;
	p->callers[s->depth + 1] = function;
	lane = &y->lanes[p->trace][y->n_lanes[p->trace] - 1];
	lane->n_calls++;
	lane->flow = hash_add(lane->flow, (uint64_t)s->depth << 32 | site);
	lane->ends = hash_add(lane->ends, call_end_sort(s->end));
	y->n_calls[p->trace] +=
		trace_is_call(y->functions->traces[p->trace], s->site);
	return 0;
}

static int counts_trace(struct counts *y, uint32_t t,
			const struct cst_choice *choice, struct cst_error *err)
{
	struct pass p = {.y = y, .trace = t, .lane = UINT32_MAX};
	struct view *v = NULL;
	struct shown *call;
	int status = view_new(y->functions->traces[t], choice, 1, &v, err);

	while (status >= 0 && (status = view_next(v, &call, err)) > 0)
		if (take_call(&p, call) < 0)
			status = cst_fail_memory(err);
	free(p.callers);
	view_free(v);
	return status;
}

int counts_init(struct counts *y, const struct matched_functions *j,
		const struct cst_choice *choice, struct cst_error *err)
{
	int status = 0;

	*y = (struct counts){.functions = j};
	for (int t = 0; t < 2; t++)
		y->times[t] = calloc(j->n_functions + 1ull, sizeof(**y->times));
	if (!y->times[0] || !y->times[1])
		return cst_fail_memory(err);
	for (uint32_t t = 0; t < 2 && status == 0; t++)
		status = counts_trace(y, t, choice, err);
	return status;
}

/* ---- which lane is which ------------------------------------------------ */

/* A lane on the way to its partner: equal keys meet in order. */
struct suitor {
	uint32_t process;
	uint64_t key;
	uint32_t index;
};

static int suitor_compare(const void *a, const void *b)
{
	const struct suitor *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static uint32_t list_suitors(const struct counts *y, uint32_t t, int round,
			     struct suitor *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < y->n_lanes[t]; i++) {
		const struct counts_lane *l = &y->lanes[t][i];

		if (l->partner == NO_PARTNER)
			out[n++] = (struct suitor){l->process,
						   round == 0	? l->flow
						   : round == 1 ? l->first
								: 0,
						   i};
	}
	qsort(out, n, sizeof(*out), suitor_compare);
	return n;
}

static void pair_round(struct counts *y, int round, struct suitor *a,
		       struct suitor *b)
{
	uint32_t n_a = list_suitors(y, 0, round, a);
	uint32_t n_b = list_suitors(y, 1, round, b);
	uint32_t i = 0, k = 0;

	while (i < n_a && k < n_b) {
		struct suitor x = a[i], z = b[k];

		x.index = z.index = 0;
		if (suitor_compare(&x, &z) < 0) {
			i++;
		} else if (suitor_compare(&x, &z) > 0) {
			k++;
		} else {
			y->lanes[0][a[i].index].partner = b[k].index;
			y->lanes[1][b[k].index].partner = a[i].index;
			i++;
			k++;
		}
	}
}

int counts_pair(struct counts *y, struct cst_error *err)
{
	auto_free struct suitor *a = calloc(y->n_lanes[0] + 1ull, sizeof(*a));
	auto_free struct suitor *b = calloc(y->n_lanes[1] + 1ull, sizeof(*b));

	if (!a || !b)
		return cst_fail_memory(err);
	for (int round = 0; round < 3; round++)
		pair_round(y, round, a, b);
	return 0;
}
