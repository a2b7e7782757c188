/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.
 */
#include "formats/graph.h"
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
	void *p;

	*out = pairs_number(&g->arcs, caller, site, NO_PAIR);
	if (*out == NO_PAIR)
		return CST_MEMORY;
	if (*out < g->cap)
		return 0;
	p = realloc(g->sums, g->arcs.cap * sizeof(*g->sums));
	if (!p)
		return CST_MEMORY;
	g->sums = p;
	memset(g->sums + g->cap, 0, (g->arcs.cap - g->cap) * sizeof(*g->sums));
	g->cap = g->arcs.cap;
	return 0;
}

static void close_calls(struct gather *x, const struct shown *call)
{
	const struct nested *over;

	while ((over = clamp_over(&x->nest, call)))
		x->g->functions[over->function].n_open--;
}

static void count_call(struct graph *g, uint32_t caller, uint32_t function,
		       uint32_t arc, uint64_t ns)
{
	struct graph_function *f = &g->functions[function];

	f->n_calls++;
	f->self_ns += ns;
	g->sums[arc].n_calls++;
	if (!f->n_open++) {
		f->total_ns += ns;
		g->sums[arc].total_ns += ns;
	}
	if (caller == NO_CALLER)
		g->total_ns += ns;
	else
		g->functions[caller].self_ns -= ns;
	g->n_calls++;
}

static int take_call(struct gather *x, struct shown *call)
{
	uint32_t function = x->t->names->sites[call->site].function;
	uint32_t caller = NO_CALLER, arc;

	if (call->lane != x->lane) {
		close_calls(x, NULL);
		x->nest.free_ns = 0;
		x->lane = call->lane;
	}
	close_calls(x, call);
	if (x->nest.n)
		caller = x->nest.calls[x->nest.n - 1].function;
	if (arc_number(x->g, caller, call->site, &arc) < 0 ||
	    clamp_enter(&x->nest, function, call) < 0)
		return CST_MEMORY;
	count_call(x->g, caller, function, arc, call->duration_ns);
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
