/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.
 */
#include "formats/graph.h"
#include "base/array.h"
#include "trace/clamp.h"

#include <stdlib.h>

struct gather {
	struct graph *g;
	const struct cst_trace *t;
	struct clamp nest;
	uint32_t lane;
};

void graph_release(struct graph *g)
{
	free(g->functions);
	pairs_release(&g->arcs);
	free(g->sums);
	*g = (struct graph){0};
}

static int arc_number(struct graph *g, uint32_t caller, uint32_t site,
		      uint32_t *out)
{
	*out = pairs_number(&g->arcs, caller, site, NO_PAIR);
	return *out == NO_PAIR ? CST_MEMORY
			       : array_room(&g->sums, &g->cap, g->arcs.cap);
}

static int take_call(struct gather *x, struct shown *call)
{
	uint32_t function = x->t->names->sites[call->site].function;
	uint32_t caller = NO_CALLER, arc, level;
	struct graph *g = x->g;
	uint64_t ns;

	while (clamp_over(&x->nest, call->lane == x->lane ? call : NULL))
		;
	if (call->lane != x->lane)
		x->nest.free_ns = 0;
	x->lane = call->lane;
	level = x->nest.n;
	if (level)
		caller = x->nest.calls[level - 1].function;
	if (arc_number(g, caller, call->site, &arc) < 0 ||
	    clamp_enter(&x->nest, function, call) < 0)
		return CST_MEMORY;
	ns = call->duration_ns;
	g->n_calls++;
	g->sums[arc].n_calls++;
	if (total_enter(&g->functions[function], ns, call->n_stops, level,
			&x->nest.calls->function, sizeof(*x->nest.calls),
			function))
		g->sums[arc].total_ns += ns;
	if (caller == NO_CALLER)
		g->total_ns += ns;
	else
		total_take(&g->functions[caller], ns, call->n_stops);
	g->is_stopped |= call->n_stops > 0;
	return 0;
}

int graph_make(struct graph *g, const struct cst_trace *t,
	       const struct cst_choice *choice, struct cst_error *err)
{
	auto_free struct gather *x = calloc(1, sizeof(*x));
	struct view *view = NULL;
	struct shown *call;
	int status;

	*g = (struct graph){0};
	g->functions = calloc(t->names->n_functions + (size_t)1,
			      sizeof(*g->functions));
	status = x && g->functions ? view_new_calls(t, choice, 1, &view, err)
				   : cst_fail_memory(err);
	if (status == 0) {
		x->g = g;
		x->t = t;
	}
	while (status >= 0 && (status = view_next(view, &call, err)) > 0)
		if (take_call(x, call) < 0)
			status = cst_fail_memory(err);
	view_free(view);
	if (x)
		clamp_release(&x->nest);
	if (status < 0)
		graph_release(g);
	return status;
}
