/* SPDX-License-Identifier: MIT
 *
 * Goes through the calls of a choice and adds up times and counts at the nodes
 * of a tree of function paths.
 */
#include "trace/call_paths.h"
#include "base/array.h"
#include "trace/clamp.h"

#include <stdlib.h>

struct gather {
	struct call_paths *s;
	const struct cst_trace *t;
	struct clamp nest;
	uint32_t lane, n_levels;
	uint32_t *levels; /* the node of each open call */
	uint32_t cap;
};

void call_paths_release(struct call_paths *s)
{
	pairs_release(&s->nodes);
	free(s->sums);
	*s = (struct call_paths){0};
}

static int sums_room(struct call_paths *s)
{
	return array_room(&s->sums, &s->cap, s->nodes.n);
}

int call_paths_node(struct call_paths *s, uint32_t above, uint32_t b,
		    uint32_t *out)
{
	uint32_t node = pairs_number(&s->nodes, above, b, STACKS_MOST);

	if (node == NO_PAIR)
		return s->nodes.n < STACKS_MOST ? CST_MEMORY : 0;
	if (sums_room(s) < 0)
		return CST_MEMORY;
	*out = node;
	return 1;
}

static int take_call(struct gather *g, struct shown *call)
{
	struct call_paths *s = g->s;
	uint32_t function = g->t->names->sites[call->site].function;
	uint32_t above, node = NO_STACK, level;
	int status = 0;

	while (clamp_over(&g->nest, call->lane == g->lane ? call : NULL))
		;
	if (call->lane != g->lane)
		g->nest.free_ns = 0;
	g->lane = call->lane;
	level = g->nest.n;
	if (array_room(&g->levels, &g->cap, g->nest.n + 1ull) < 0 ||
	    clamp_enter(&g->nest, function, call) < 0)
		return CST_MEMORY;
	above = level ? g->levels[level - 1] : NO_STACK;
	if (level < g->n_levels)
		status = call_paths_node(s, above, function, &node);
	if (status < 0)
		return status;
	s->n_calls++;
	g->levels[level] = status ? node : above;
	if (!status) {
		s->n_left_out++;
		return 0;
	}
	total_add(&s->sums[node].total, call->duration_ns, call->n_stops);
	s->sums[node].total.total_ns += call->duration_ns;
	if (above != NO_STACK)
		total_take(&s->sums[above].total, call->duration_ns,
			   call->n_stops);
	return 0;
}

int call_paths_make(struct call_paths *s, const struct cst_trace *t,
		    const struct cst_choice *choice, uint32_t n_levels,
		    struct cst_error *err)
{
	auto_free struct gather *g = calloc(1, sizeof(*g));
	struct view *view = NULL;
	struct shown *call;
	int status;

	*s = (struct call_paths){0};
	if (!g)
		return cst_fail_memory(err);
	g->s = s;
	g->t = t;
	g->n_levels = n_levels;
	status = view_new_calls(t, choice, 1, &view, err);
	while (status >= 0 && (status = view_next(view, &call, err)) > 0)
		if (take_call(g, call) < 0)
			status = cst_fail_memory(err);
	view_free(view);
	clamp_release(&g->nest);
	free(g->levels);
	if (status < 0)
		call_paths_release(s);
	return status;
}
