/* SPDX-License-Identifier: MIT
 *
 * A picture of hundreds of functions tells nothing: of more than FEW only
 * those are drawn that had a part in the time, and at most MOST.
 */
#include "formats/dot.h"
#include "base/pipeline.h"
#include "formats/graph.h"
#include "names/put.h"
#include "rows/row.h"

#include <stdlib.h>

enum {
	FEW = 50,
	MOST = 100,
	PART = 200, /* a 200th of the whole */
	NAME_ROOM = 100,
};

struct edge {
	uint64_t n_calls, total_ns;
};

struct dot {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct graph graph;
	uint32_t *shown; /* functions, the longest first */
	uint32_t n_shown, n_functions;
	uint8_t *is_shown;  /* by function */
	struct pairs edges; /* of functions that are shown */
	struct edge *sums;  /* by edge */
};

/* Inside a label's quotes; what is printable. */
static void put_label(struct bytes *out, const char *text, const char *end)
{
	for (const char *p = text; p < end; p++) {
		if (*p == '"' || *p == '\\')
			bytes_put_byte(out, '\\');
		if (*p == '&') /* "&lt;" would be "<" */
			PUT(out, "&amp;");
		else
			bytes_put_byte(out, (uint8_t)*p);
	}
}

static void put_text(struct bytes *out, const char *text)
{
	char printable[NAME_ROOM + 64];
	const char *end = row_put_text(printable, text, NAME_ROOM);

	put_label(out, printable, end);
}

static void put_name(const struct dot *d, uint32_t function, struct bytes *out)
{
	char name[NAME_ROOM + 64];
	const char *end =
		row_put_function(name, d->t->names, function,
				 names_distinct(d->choice->names), NAME_ROOM);

	put_label(out, name, end);
}

static void put_duration(struct bytes *out, uint64_t ns)
{
	char text[40], *p = text, *end = number_put_duration(text, ns);

	while (*p == ' ')
		p++;
	bytes_put(out, p, (size_t)(end - p));
}

static void put_calls(struct bytes *out, uint64_t n)
{
	put_number(out, n);
	if (n == 1)
		PUT(out, " call");
	else
		PUT(out, " calls");
}

/* In thousandths; made-up times may be more than the whole. */
static uint32_t share(const struct dot *d, uint64_t ns)
{
	double part =
		d->graph.total_ns ? (double)ns / (double)d->graph.total_ns : 0;

	return part > 1 ? 1000 : (uint32_t)(part * 1000 + 0.5);
}

static void put_share(const struct dot *d, uint64_t ns, int is_stopped,
		      struct bytes *out)
{
	uint32_t thousandths = share(d, ns);

	put_duration(out, ns);
	if (is_stopped)
		PUT(out, "*");
	PUT(out, " (");
	put_number(out, thousandths / 10);
	PUT(out, ".");
	put_number(out, thousandths % 10);
	PUT(out, " %)");
}

/* ---- what is drawn ------------------------------------------------------ */

struct rank {
	uint64_t ns;
	uint32_t function;
};

static int rank_compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static int choose_functions(struct dot *d)
{
	uint32_t most = d->t->names->n_functions, n = 0;
	auto_free struct rank *ranks = malloc((most + 1ull) * sizeof(*ranks));

	d->shown = malloc((most + 1ull) * sizeof(*d->shown));
	d->is_shown = calloc(most + 1ull, 1);
	if (!ranks || !d->shown || !d->is_shown)
		return CST_MEMORY;
	for (uint32_t i = 0; i < most; i++)
		if (d->graph.functions[i].n_calls)
			ranks[n++] = (struct rank){
				d->graph.functions[i].total_ns, i};
	if (n)
		qsort(ranks, n, sizeof(*ranks), rank_compare);
	d->n_functions = n;
	for (uint32_t i = 0; i < n; i++) {
		if (n > FEW &&
		    (i >= MOST || ranks[i].ns < d->graph.total_ns / PART))
			break;
		d->shown[d->n_shown++] = ranks[i].function;
		d->is_shown[ranks[i].function] = 1;
	}
	return 0;
}

/* The call sites of one function in another are one edge. */
static int join_edges(struct dot *d)
{
	const struct pairs *arcs = &d->graph.arcs;

	d->sums = calloc(arcs->n + 1ull, sizeof(*d->sums));
	if (!d->sums)
		return CST_MEMORY;
	for (uint32_t i = 0; i < arcs->n; i++) {
		uint32_t from = arcs->all[i].a, edge;
		uint32_t to = d->t->names->sites[arcs->all[i].b].function;

		if (from == NO_CALLER || !d->is_shown[from] || !d->is_shown[to])
			continue;
		edge = pairs_number(&d->edges, from, to, NO_PAIR);
		if (edge == NO_PAIR)
			return CST_MEMORY;
		d->sums[edge].n_calls += d->graph.sums[i].n_calls;
		d->sums[edge].total_ns += d->graph.sums[i].total_ns;
	}
	return 0;
}

/* ---- drawing ------------------------------------------------------------ */

static void put_head(const struct dot *d, struct bytes *out)
{
	PUT(out, "digraph cstrace {\n"
		 "graph [fontname=\"sans-serif\", labelloc=t, label=\"");
	put_text(out, d->t->command);
	PUT(out, "\\n");
	put_calls(out, (uint64_t)d->graph.n_calls);
	PUT(out, ", ");
	put_duration(out, d->graph.total_ns);
	if (d->n_shown < d->n_functions) {
		PUT(out, "\\n");
		put_number(out, d->n_shown);
		PUT(out, " of ");
		put_number(out, d->n_functions);
		PUT(out, " functions: those with most of the time");
	}
	if (d->graph.is_stopped)
		PUT(out, "\\n*: gdb stopped the program in such a call; the "
			 "time includes what that took");
	PUT(out, "\"];\nnode [fontname=\"sans-serif\", shape=box, "
		 "style=filled];\nedge [fontname=\"sans-serif\"];\n");
}

/* The more time of its own, the more colour. */
static void put_function(const struct dot *d, uint32_t id, struct bytes *out)
{
	const struct total *f = &d->graph.functions[id];
	char text[8] = {0};

	PUT(out, "f");
	put_number(out, id);
	PUT(out, " [label=\"");
	put_name(d, id, out);
	PUT(out, "\\n");
	put_calls(out, f->n_calls);
	PUT(out, ", ");
	put_share(d, f->total_ns, f->n_stopped > 0, out);
	PUT(out, "\\nself ");
	put_share(d, total_self(f), f->own_stops > 0, out);
	PUT(out, "\", fillcolor=\"0.080 0.");
	number_put_digits(text, share(d, total_self(f)) * 7 / 10, 3);
	bytes_put(out, text, 3);
	PUT(out, " 1.000\"];\n");
}

static void put_edge(const struct dot *d, uint32_t edge, struct bytes *out)
{
	const struct edge *sums = &d->sums[edge];

	PUT(out, "f");
	put_number(out, d->edges.all[edge].a);
	PUT(out, " -> f");
	put_number(out, d->edges.all[edge].b);
	PUT(out, " [label=\"");
	put_calls(out, sums->n_calls);
	/* The time of a function that was open already is counted above. */
	if (sums->total_ns) {
		PUT(out, "\\n");
		put_duration(out, sums->total_ns);
	}
	PUT(out, "\", penwidth=");
	put_number(out, 1 + share(d, sums->total_ns) / 250);
	PUT(out, "];\n");
}

static int dot_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct dot *d = arg;
	int status = graph_make(&d->graph, d->t, d->choice, err);

	if (status < 0)
		return status;
	if (choose_functions(d) < 0 || join_edges(d) < 0)
		return cst_fail_memory(err);
	put_head(d, out);
	for (uint32_t i = 0; i < d->n_shown; i++)
		put_function(d, d->shown[i], out);
	for (uint32_t i = 0; i < d->edges.n; i++)
		put_edge(d, i, out);
	PUT(out, "}\n");
	return out->failed ? cst_fail_memory(err) : 0;
}

int64_t dot_write(const struct cst_trace *t, const struct cst_choice *choice,
		  cst_write_fn write, void *arg, struct cst_error *err)
{
	struct dot d = {.t = t, .choice = choice};
	int64_t status = pipeline_run(dot_fill, &d, write, arg, err);

	if (status == 0)
		status = d.graph.n_calls;
	graph_release(&d.graph);
	pairs_release(&d.edges);
	free(d.sums);
	free(d.shown);
	free(d.is_shown);
	return status;
}
