/* SPDX-License-Identifier: MIT
 *
 * Two traces compared: where their flows part, and what they call more, less,
 * or longer.
 */
#include "base/number.h"
#include "base/outfile.h"
#include "diff/divergence_text.h"
#include "names/sheet.h"
#include "trace/callid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct diff {
	struct matched_functions functions;
	struct counts counts;
	const struct cst_choice *choice;
	uint32_t by; /* enum cst_diff_by */
	uint32_t limit;
	int32_t percent; /* negative: times are not looked at */
	uint32_t sort;	 /* enum cst_diff_sort */
	int shows_percent;
	struct bytes out;
	struct sheet *sheet; /* beside the text; NULL: none is wanted */
	int64_t result;
};

/* ---- for programs ------------------------------------------------------- */

/* Rows of all kinds are in one table, as CSV has no other: "parting" is the
 * first call in A or B that the other has not, "thread" one that the other has
 * not, "calls" a place that makes more or fewer calls, "time" a function that
 * takes longer or shorter; their change is in change_percent. */
static const char *const columns[] = {
	"kind",	      "trace",	    "thread",	      "equal_calls",
	"id",	      "function",   "name",	      "caller",
	"file",	      "line",	    "calls_a",	      "calls_b",
	"total_a_ns", "total_b_ns", "change_percent", NULL};

struct cells {
	const char *kind, *trace, *thread, *id, *caller;
	const struct function *function;
	const struct call_site *site;
	int64_t n_equal, n[2], ns[2]; /* negative: none */
};

static void put_cell(struct sheet *s, int64_t v)
{
	if (v < 0)
		sheet_null(s);
	else
		sheet_integer(s, v);
}

static void put_cells(struct diff *d, const struct cells *c)
{
	struct sheet *s = d->sheet;

	sheet_text(s, c->kind);
	sheet_text(s, c->trace);
	sheet_text(s, c->thread);
	put_cell(s, c->n_equal);
	sheet_text(s, c->id);
	sheet_text(s, c->function ? c->function->name : NULL);
	sheet_text(s, c->function ? c->function->simple : NULL);
	sheet_text(s, c->caller);
	sheet_text(s, c->site ? c->site->file : NULL);
	put_cell(s, c->site && c->site->line ? (int64_t)c->site->line : -1);
	put_cell(s, c->n[0]);
	put_cell(s, c->n[1]);
	put_cell(s, c->ns[0]);
	put_cell(s, c->ns[1]);
	if (c->ns[0] >= 0)
		sheet_change(s, (uint64_t)c->ns[0], (uint64_t)c->ns[1]);
	else if (c->n[0] >= 0 && c->n[1] >= 0)
		sheet_change(s, (uint64_t)c->n[0], (uint64_t)c->n[1]);
	else
		sheet_null(s);
}

/* "2:1", as in an ID. */
static const char *thread_text(const struct counts_lane *l, char text[32])
{
	if (l->process > 1)
		snprintf(text, 32, "%" PRIu32 ":%" PRIu32, l->process,
			 l->thread);
	else
		snprintf(text, 32, "%" PRIu32, l->thread);
	return text;
}

static void put_parting_cells(struct diff *d, const struct divergence *p,
			      const struct counts_lane *const lanes[2])
{
	for (int t = 0; d->sheet && t < 2; t++) {
		const struct cst_trace *trace = d->functions.traces[t];
		const struct shown *call = &p->next[t];
		const struct names *names = trace->names;
		char id[CALLID_MAX], thread[32];
		struct cells c = {.kind = "parting",
				  .trace = t ? "b" : "a",
				  .thread = thread_text(lanes[t], thread),
				  .n_equal = (int64_t)p->n_equal,
				  .n = {-1, -1},
				  .ns = {-1, -1}};

		if (call->number) {
			*callid_put(id, &trace->threads[call->thread],
				    call->number, call->is_seed) = '\0';
			c.id = id;
			c.site = &names->sites[call->from];
			c.function = &names->functions[names->sites[call->site]
							       .function];
		}
		put_cells(d, &c);
	}
}

static void put_alone_cells(struct diff *d, int t, const struct counts_lane *l)
{
	char thread[32];
	struct cells c = {
		.kind = "thread",
		.trace = t ? "b" : "a",
		.thread = thread_text(l, thread),
		.function = matched_functions_function(&d->functions, l->first),
		.n_equal = -1,
		.n = {-1, -1},
		.ns = {-1, -1}};

	c.n[t] = (int64_t)l->n_calls;
	if (d->sheet)
		put_cells(d, &c);
}

static void put_edge_cells(struct diff *d, const struct counts_edge *e)
{
	const struct matched_functions *j = &d->functions;
	const struct matched_functions_item *site = &j->site_items[e->site];
	struct cells c = {
		.kind = "calls",
		.function = matched_functions_function(j, site->function),
		.caller = e->caller == COUNTS_NO_CALLER
				  ? NULL
				  : matched_functions_name(j, e->caller),
		.site = site->is_anywhere
				? NULL
				: &j->traces[e->trace]
					   ->names->sites[e->first_from],
		.n_equal = -1,
		.n = {(int64_t)e->n[0], (int64_t)e->n[1]},
		.ns = {-1, -1}};

	if (d->sheet)
		put_cells(d, &c);
}

static void put_time_cells(struct diff *d, uint32_t function)
{
	const struct counts *y = &d->counts;
	struct cells c = {
		.kind = "time",
		.function = matched_functions_function(&d->functions, function),
		.n_equal = -1};

	for (int t = 0; t < 2; t++) {
		c.n[t] = (int64_t)y->times[t][function].n_calls;
		c.ns[t] = (int64_t)y->times[t][function].total_ns;
	}
	if (d->sheet)
		put_cells(d, &c);
}

/* ---- threads ------------------------------------------------------------ */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_head(struct diff *d, int t)
{
	const struct cst_trace *trace = d->functions.traces[t];
	uint64_t n = d->counts.n_calls[t];

	put_words(&d->out, "%s ", t ? "+++" : "---");
	put_name(&d->out, trace->path);
	put_words(&d->out,
		  "  (%c: %" PRIu64 " call%s in %" PRIu32 " thread%s%s)\n",
		  'A' + t, n, plural(n), trace->n_threads,
		  plural(trace->n_threads), trace->is_cut ? ", cut short" : "");
}

static void put_thread(struct diff *d, const struct cst_trace *t,
		       const struct counts_lane *l)
{
	const struct trace_lane *lane = &t->lanes[l->lane];

	if (l->process > 1)
		put_words(&d->out, "%" PRIu32 ":", l->process);
	put_words(&d->out, "%" PRIu32, l->thread);
	if (lane->ordinal)
		put_words(&d->out, ", its stack %" PRIu32, lane->ordinal);
}

static int is_same_lane(const struct counts_lane *a,
			const struct counts_lane *b)
{
	return a->n_calls == b->n_calls && a->flow == b->flow &&
	       a->ends == b->ends;
}

/* The first one that differs is written in full. */
static int put_parting(struct diff *d, const struct counts_lane *a,
		       const struct counts_lane *b, uint32_t n_before,
		       struct cst_error *err)
{
	const uint32_t lanes[2] = {a->lane, b->lane};
	struct divergence p = {0};
	int status = divergence_find(&p, &d->functions, d->choice, lanes, err);

	if (status == 0) {
		put_parting_cells(d, &p,
				  (const struct counts_lane *const[]){a, b});
		put_words(&d->out, "%sthread ", n_before ? "  " : "\nIn ");
		put_thread(d, d->functions.traces[0], a);
		if (a->thread != b->thread || a->process != b->process) {
			put_words(&d->out, " (in B ");
			put_thread(d, d->functions.traces[1], b);
			put_words(&d->out, ")");
		}
		put_words(&d->out, " %s after %" PRIu64 " equal call%s: ",
			  p.kind == PARTING_END ? "a call ends otherwise"
						: "the flows part",
			  p.n_equal, plural(p.n_equal));
		divergence_put_short(&p, &d->functions, &d->out);
		if (!n_before)
			divergence_put(&p, &d->functions, d->limit, &d->out);
	}
	divergence_release(&p);
	return status;
}

static int put_partings(struct diff *d, struct cst_error *err)
{
	const struct counts *y = &d->counts;
	uint32_t n = 0;
	int status = 0;

	for (uint32_t i = 0; i < y->n_lanes[0] && status == 0; i++) {
		const struct counts_lane *a = &y->lanes[0][i], *b;

		if (a->partner == NO_PARTNER)
			continue;
		b = &y->lanes[1][a->partner];
		if (is_same_lane(a, b))
			continue;
		d->result |= CST_DIFFERS_IN_FLOW;
		if (n == 1)
			put_words(&d->out, "\nOther threads:\n");
		if (!d->limit || n <= d->limit)
			status = put_parting(d, a, b, n, err);
		n++;
	}
	if (d->limit && n > d->limit + 1)
		put_words(&d->out, "  ... and %" PRIu32 " more\n",
			  n - d->limit - 1);
	return status;
}

/* Threads without a partner. */
static void put_alone(struct diff *d, int t)
{
	const struct counts *y = &d->counts;
	uint32_t n = 0;

	for (uint32_t i = 0; i < y->n_lanes[t]; i++) {
		const struct counts_lane *l = &y->lanes[t][i];

		if (l->partner != NO_PARTNER)
			continue;
		d->result |= CST_DIFFERS_IN_FLOW;
		if (n++ >= (d->limit ? d->limit : UINT32_MAX))
			continue;
		if (n == 1)
			put_words(&d->out, "\nOnly in %s:\n", t ? "B" : "A");
		put_alone_cells(d, t, l);
		put_words(&d->out, "%c thread ", t ? '+' : '-');
		put_thread(d, d->functions.traces[t], l);
		put_words(&d->out, ": %" PRIu64 " call%s, from ", l->n_calls,
			  plural(l->n_calls));
		put_matched(&d->out, &d->functions, l->first);
		bytes_put_byte(&d->out, '\n');
	}
	if (d->limit && n > d->limit)
		put_words(&d->out, "%c ... and %" PRIu32 " more\n",
			  t ? '+' : '-', n - d->limit);
}

/* ---- the order of rows -------------------------------------------------- */

static uint64_t change_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A row of a table, and what it is ordered by: group, name, by and change in
 * this order of weight. */
struct ranked {
	const struct counts_edge *edge; /* or NULL, in the table of times */
	uint32_t function;		/* joint */
	int group;			/* the smallest first */
	const char *name;		/* from A to Z, or NULL */
	double by;			/* the largest first */
	uint64_t change;		/* likewise: what the table shows */
};

static double function_change(const struct diff *d, uint32_t function)
{
	const struct total *a = &d->counts.times[0][function];
	const struct total *b = &d->counts.times[1][function];

	return d->sort == CST_DIFF_SORT_TOTAL
		       ? (double)change_of(a->total_ns, b->total_ns)
		       : (double)change_of(a->n_calls, b->n_calls);
}

/* a and b: what the table shows of both traces. */
static void ranked_set(struct ranked *r, const struct diff *d, uint64_t a,
		       uint64_t b)
{
	r->change = change_of(a, b);
	if (d->sort == CST_DIFF_SORT_NAME)
		r->name = matched_functions_name(&d->functions, r->function);
	else if (d->sort == CST_DIFF_SORT_PERCENT)
		r->by = a ? (double)r->change / (double)a : INFINITY;
	else if (d->sort == CST_DIFF_SORT_TOTAL ||
		 (d->sort == CST_DIFF_SORT_CALLS && !r->edge))
		r->by = function_change(d, r->function);
}

static int edge_order(const struct counts_edge *x, const struct counts_edge *y)
{
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int names = x->name && y->name ? strcmp(x->name, y->name) : 0;

	if (x->group != y->group)
		return x->group - y->group;
	if (names)
		return names;
	if (x->by != y->by)
		return x->by > y->by ? -1 : 1;
	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	if (x->edge && y->edge)
		return edge_order(x->edge, y->edge);
	return (x->function > y->function) - (x->function < y->function);
}

/* Ten columns and two blanks: "+25 %", or "new" for what A has not. */
static void put_percent(struct diff *d, uint64_t a, uint64_t b)
{
	if (a)
		put_words(&d->out, "%+8.0f %%  ",
			  ((double)b - (double)a) * 100 / (double)a);
	else
		put_words(&d->out, "%10s  ", "new");
}

/* ---- counts ------------------------------------------------------------- */

/* Added ones first, then missing ones, then other changes. */
static int edge_group(const struct counts_edge *e)
{
	return !e->n[0] ? 0 : !e->n[1] ? 1 : 2;
}

static void put_edge(struct diff *d, const struct ranked *r)
{
	const struct counts_edge *e = r->edge;
	static const char *const words[] = {"added", "missing", "changed"};
	const struct matched_functions *j = &d->functions;
	const struct matched_functions_item *site = &j->site_items[e->site];

	put_edge_cells(d, e);
	put_words(&d->out, "%10" PRIu64 "  %10" PRIu64 "  ", e->n[0], e->n[1]);
	if (d->shows_percent)
		put_percent(d, e->n[0], e->n[1]);
	else
		put_words(&d->out, "%+10" PRId64 "  ",
			  (int64_t)(e->n[1] - e->n[0]));
	put_words(&d->out, "%-7s  ", words[edge_group(e)]);
	if (site->is_anywhere)
		put_matched(&d->out, &d->functions, site->function);
	else
		put_call(&d->out, j->traces[e->trace], e->first_site,
			 e->first_from);
	if (e->caller != COUNTS_NO_CALLER) {
		put_words(&d->out, "  in ");
		put_matched(&d->out, &d->functions, e->caller);
	}
	bytes_put_byte(&d->out, '\n');
}

static struct ranked ranked_edge(const struct diff *d,
				 const struct counts_edge *e)
{
	struct ranked r = {.edge = e,
			   .function =
				   d->functions.site_items[e->site].function};

	if (d->sort == CST_DIFF_SORT_NONE)
		r.group = edge_group(e);
	ranked_set(&r, d, e->n[0], e->n[1]);
	return r;
}

/* Sorts what is to be shown, and writes as much of it as there may be. */
static void put_ranked(struct diff *d, struct ranked *all, uint32_t n,
		       void (*put)(struct diff *, const struct ranked *))
{
	uint32_t shown = d->limit && n > d->limit ? d->limit : n;

	qsort(all, n, sizeof(*all), ranked_compare);
	for (uint32_t i = 0; i < shown; i++)
		put(d, &all[i]);
	if (shown < n)
		put_words(&d->out, "... and %" PRIu32 " more\n", n - shown);
}

static int put_edges(struct diff *d, struct cst_error *err)
{
	const struct counts *y = &d->counts;
	auto_free struct ranked *changed =
		calloc(y->pairs.n + 1ull, sizeof(*changed));
	uint32_t n = 0;

	if (!changed)
		return cst_fail_memory(err);
	for (uint32_t i = 0; i < y->pairs.n; i++)
		if (y->edges[i].n[0] != y->edges[i].n[1])
			changed[n++] = ranked_edge(d, &y->edges[i]);
	if (!n) {
		put_words(&d->out, "%sEach call is made as often in both.\n",
			  d->by == CST_DIFF_BY_COUNTS ? "" : "\n");
		return 0;
	}
	d->result |= CST_DIFFERS_IN_FLOW;
	put_words(&d->out, "\n#        A           B      CHANGE           "
			   "CALL  (FROM)  in CALLER\n");
	put_ranked(d, changed, n, put_edge);
	return 0;
}

/* ---- times -------------------------------------------------------------- */

/* Returns whether the change is more than so many percent, and at least a
 * thousandth of all time. */
static int is_changed(const struct diff *d, uint64_t a, uint64_t b)
{
	uint64_t change = change_of(a, b);
	const uint64_t *root = d->counts.root_ns;
	uint64_t all = root[0] > root[1] ? root[0] : root[1];

	return (double)change * 100 > (double)a * d->percent &&
	       change >= all / 1000 && change;
}

static void put_time(struct diff *d, const struct ranked *r)
{
	char text[64], *p = text;
	uint64_t a = d->counts.times[0][r->function].total_ns;
	uint64_t b = d->counts.times[1][r->function].total_ns;

	put_time_cells(d, r->function);
	p = number_put_duration(p, a);
	memcpy(p, "  ", 2);
	p = number_put_duration(p + 2, b);
	bytes_put(&d->out, text, (size_t)(p - text));
	put_words(&d->out, "  ");
	put_percent(d, a, b);
	put_matched(&d->out, &d->functions, r->function);
	bytes_put_byte(&d->out, '\n');
}

static int put_times(struct diff *d, struct cst_error *err)
{
	struct total *const *times = d->counts.times;
	uint32_t n = 0;
	auto_free struct ranked *all =
		calloc(d->functions.n_functions + 1ull, sizeof(*all));

	if (!all)
		return cst_fail_memory(err);
	for (uint32_t i = 0; i < d->functions.n_functions; i++) {
		uint64_t a = times[0][i].total_ns, b = times[1][i].total_ns;

		if (!is_changed(d, a, b))
			continue;
		all[n] = (struct ranked){.function = i};
		ranked_set(&all[n++], d, a, b);
	}
	if (!n)
		return 0;
	d->result |= CST_DIFFERS_IN_TIME;
	put_words(&d->out, "\n#  TIME A      TIME B      CHANGE  FUNCTION\n");
	put_ranked(d, all, n, put_time);
	return 0;
}

/* ---- the whole ---------------------------------------------------------- */

/* What the choice hides, as below the rows of a tree. */
static void put_note(struct diff *d)
{
	char text[1024];

	if (!cst_choice_text(d->choice, text, sizeof(text)))
		return;
	put_words(&d->out, "# %s: ", text);
	for (int i = 0; i < 2; i++) {
		const struct cst_trace *t = d->functions.traces[i];

		put_words(&d->out, "%s%" PRIu64 " of %" PRIu64 " calls in %c",
			  i ? ", " : "", d->counts.n_calls[i],
			  t->status.n_calls + t->status.n_seeds, "AB"[i]);
	}
	put_words(&d->out, "\n");
}

static int put_all(struct diff *d, struct cst_error *err)
{
	int is_counted = d->by == CST_DIFF_BY_COUNTS, status = 0;

	put_head(d, 0);
	put_head(d, 1);
	if (!is_counted) {
		status = put_partings(d, err);
		put_alone(d, 0);
		put_alone(d, 1);
	}
	if (status == 0 && (d->result || is_counted))
		status = put_edges(d, err);
	else if (status == 0)
		put_words(&d->out, "The flow is the same.\n");
	if (status == 0 && d->percent >= 0)
		status = put_times(d, err);
	if (!d->sheet)
		put_note(d);
	return status == 0 && d->out.failed ? cst_fail_memory(err) : status;
}

/* The document, around a table that put_all() fills. */
static int put_sheet(struct diff *d, enum cst_output output, struct bytes *out,
		     struct cst_error *err)
{
	struct sheet sheet;
	int status;

	d->sheet = &sheet;
	sheet_begin(&sheet, output, out);
	sheet_member_text(&sheet, "a", d->functions.traces[0]->path);
	sheet_member_text(&sheet, "b", d->functions.traces[1]->path);
	sheet_member_number(&sheet, "calls_a", d->counts.n_calls[0]);
	sheet_member_number(&sheet, "calls_b", d->counts.n_calls[1]);
	sheet_table(&sheet, "rows", columns);
	status = put_all(d, err);
	sheet_table_end(&sheet);
	sheet_member_truth(&sheet, "differs_in_flow",
			   (d->result & CST_DIFFERS_IN_FLOW) != 0);
	sheet_member_truth(&sheet, "differs_in_time",
			   (d->result & CST_DIFFERS_IN_TIME) != 0);
	sheet_end(&sheet);
	d->sheet = NULL;
	return status == 0 && out->failed ? cst_fail_memory(err) : status;
}

/* A value that no function of both traces has is a mistake. */
static int check_where(const struct cst_trace *a, const struct cst_trace *b,
		       const char *where, struct cst_error *err)
{
	char wrong[sizeof(err->text)];

	if (!where || cst_trace_has_values(a, where, wrong, sizeof(wrong)) ||
	    cst_trace_has_values(b, where, wrong, sizeof(wrong)))
		return 0;
	return cst_fail(CST_BAD_INPUT, err, "%s", wrong);
}

int64_t cst_trace_diff(struct cst_trace *a, struct cst_trace *b,
		       const struct cst_diff *diff,
		       const struct cst_choice *choice, cst_write_fn write,
		       void *arg, struct cst_error *err)
{
	struct diff d = {.choice = choice,
			 .by = diff->by,
			 .limit = diff->limit,
			 .percent = diff->percent,
			 .sort = diff->sort,
			 .shows_percent = diff->shows_percent != 0};
	struct bytes sheet = {0};
	const struct bytes *out = diff->output ? &sheet : &d.out;
	int64_t status;

	outfile_begin();
	status = check_where(a, b, choice->where, err);
	if (status < 0)
		return status;
	status = matched_functions_init(&d.functions, a, b, err);

	if (status == 0)
		status = counts_init(&d.counts, &d.functions, choice, err);
	if (status == 0)
		status = counts_pair(&d.counts, err);
	if (status == 0)
		status = diff->output
				 ? put_sheet(&d, (enum cst_output)diff->output,
					     &sheet, err)
				 : put_all(&d, err);
	if (status == 0 && write(arg, (const char *)out->data, out->len) < 0)
		status = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&sheet);
	bytes_release(&d.out);
	counts_release(&d.counts);
	matched_functions_release(&d.functions);
	return status < 0 ? status : d.result;
}

/* ---- one thread ---------------------------------------------------------- */

/* NO_LANE: the trace has no such thread. */
#define NO_LANE UINT32_MAX

static uint32_t own_lane(const struct cst_trace *t, uint32_t process,
			 uint32_t thread)
{
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		const struct trace_lane *l = &t->lanes[i];
		const struct trace_thread *of = &t->threads[l->thread];

		if (!l->ordinal && of->process == process &&
		    of->ordinal == thread)
			return i;
	}
	return NO_LANE;
}

static void parting_side(const struct cst_trace *t, const struct shown *call,
			 char id[64], const char **name)
{
	const struct names *n = t->names;

	id[0] = 0;
	*name = NULL;
	if (!call->number)
		return;
	*callid_put(id, &t->threads[call->thread], call->number,
		    call->is_seed) = '\0';
	*name = n->functions[n->sites[call->site].function].simple;
}

int cst_trace_parting(const struct cst_trace *a, const struct cst_trace *b,
		      uint32_t process, uint32_t thread,
		      struct cst_parting *out, struct cst_error *err)
{
	const uint32_t lanes[2] = {own_lane(a, process, thread),
				   own_lane(b, process, thread)};
	const struct cst_choice choice = {.std = 1};
	struct matched_functions functions;
	struct divergence p = {0};
	int status;

	if (lanes[0] == NO_LANE || lanes[1] == NO_LANE)
		return 0;
	outfile_begin();
	status = matched_functions_init(&functions, a, b, err);
	if (status == 0)
		status = divergence_find(&p, &functions, &choice, lanes, err);
	if (status == 0 && p.kind == PARTING_CALL) {
		out->n_equal = p.n_equal;
		parting_side(a, &p.next[0], out->id_a, &out->name_a);
		parting_side(b, &p.next[1], out->id_b, &out->name_b);
		status = 1;
	}
	divergence_release(&p);
	matched_functions_release(&functions);
	return status;
}
