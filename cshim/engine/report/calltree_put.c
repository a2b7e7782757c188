/* SPDX-License-Identifier: MIT
 *
 * Rows lie below their caller's, in the order asked for.  A line at the end
 * counts the rows that were left out.
 */
#include "report/calltree_put.h"
#include "base/share.h"
#include "names/put.h"
#include "names/sheet.h"
#include "report/calltree.h"
#include "rows/row.h"

#include <stdlib.h>

enum { INDENT_MOST = 40, ROW_ROOM = KEYS_ROOM + 512 };

struct drawing {
	const struct calltree *c;
	const struct cst_graph *graph;
	enum cst_words words;
	const struct call_paths *s; /* the tree that is drawn */
	const char *section;
	uint8_t *is_shown;  /* by node */
	uint32_t *children; /* nodes by caller, each caller's in order */
	uint32_t *first;    /* by node + 1: where its children begin there;
			     * [0]: the roots, [n + 1]: the end */
	uint64_t n_left_out;
	uint8_t is_marked; /* a time bears the mark of a stop */
	struct bytes *out;
	struct sheet own, *sheet; /* &own, or NULL: text */
};

/* ---- order -------------------------------------------------------------- */

struct rank {
	uint64_t sort;
	uint32_t above, node; /* above: the caller + 1, or 0 */
};

static int rank_compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	if (x->sort != y->sort)
		return x->sort > y->sort ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static uint64_t sort_value(const struct total *s, uint32_t sort)
{
	return sort == CST_SORT_SELF	? total_self(s)
	       : sort == CST_SORT_CALLS ? s->n_calls
					: s->total_ns;
}

static int order_nodes(struct drawing *d, struct rank *ranks)
{
	uint32_t n = d->s->nodes.n, at = 0;

	for (uint32_t i = 0; i < n; i++)
		ranks[i] = (struct rank){
			sort_value(&d->s->sums[i].total, d->graph->sort),
			d->s->nodes.all[i].a + 1, i};
	qsort(ranks, n, sizeof(*ranks), rank_compare);
	for (uint32_t above = 0; above <= n; above++) {
		d->first[above] = at;
		for (; at < n && ranks[at].above == above; at++)
			d->children[at] = ranks[at].node;
	}
	d->first[n + 1] = n;
	return 0;
}

/* The limit keeps the nodes with most time.  A caller has a lower number than
 * what lies below it. */
static void choose_nodes(struct drawing *d, struct rank *ranks)
{
	uint32_t n = d->s->nodes.n, limit = d->graph->limit;
	unsigned __int128 least =
		(unsigned __int128)d->c->total_ns * d->graph->min_share_ppm;
	uint32_t *depths = d->children; /* not in use yet */

	for (uint32_t i = 0; i < n; i++)
		ranks[i] = (struct rank){d->s->sums[i].total.total_ns, 0, i};
	qsort(ranks, n, sizeof(*ranks), rank_compare);
	for (uint32_t i = 0; i < n && (!limit || i < limit); i++)
		d->is_shown[ranks[i].node] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t above = d->s->nodes.all[i].a;

		depths[i] = above == NO_STACK ? 1 : depths[above] + 1;
		if ((d->graph->depth && depths[i] > d->graph->depth) ||
		    (unsigned __int128)d->s->sums[i].total.total_ns * 1000000 <
			    least ||
		    (above != NO_STACK && !d->is_shown[above]))
			d->is_shown[i] = 0;
		d->n_left_out += !d->is_shown[i];
	}
}

/* ---- rows --------------------------------------------------------------- */

static void put_text_row(struct drawing *d, uint32_t node, uint32_t depth)
{
	const struct total *s = &d->s->sums[node].total;
	int is_recursive = calltree_is_recursive(d->s, node);
	char *begin = (char *)bytes_reserve(d->out, ROW_ROOM), *p = begin;
	uint32_t indent = depth < INDENT_MOST ? depth : INDENT_MOST;

	if (!begin)
		return;
	p = number_put_wide(p, s->n_calls, 10);
	if (is_recursive) {
		p = PUT_AT(p, "           -           -       -  ");
	} else {
		p = number_put_duration(PUT_AT(p, "  "), s->total_ns);
		*p++ = s->n_stopped ? '*' : ' ';
		*p++ = ' ';
		p = number_put_duration(p, total_self(s));
		*p++ = s->own_stops > 0 ? '*' : ' ';
		p = share_put(p, s->total_ns, d->c->total_ns);
		d->is_marked |= s->n_stopped > 0;
		p = PUT_AT(p, "  ");
	}
	memset(p, ' ', indent * 2ull);
	p += indent * 2ull;
	if (depth > INDENT_MOST) {
		p = PUT_AT(p, "[");
		p = number_put(p, depth);
		p = PUT_AT(p, "] ");
	}
	p = report_keys_put(&d->c->keys, d->s->nodes.all[node].b, p);
	if (is_recursive)
		p = PUT_AT(p, "  (recursive)");
	*p++ = '\n';
	d->out->len += (size_t)(p - begin);
}

static const char *const columns[] = {
	"section",  "node",    "above",		"depth",	 "calls",
	"total_ns", "self_ns", "share_percent", "function",	 "name",
	"symbol",   "module",  "is_recursive",	"stopped_calls", NULL};

static void put_sheet_row(struct drawing *d, uint32_t node, uint32_t depth)
{
	const struct total *s = &d->s->sums[node].total;
	const struct pair *pair = &d->s->nodes.all[node];
	const struct keys *keys = &d->c->keys;
	const struct function *f =
		&keys->names->functions[keys->all[pair->b].function];
	int is_recursive = calltree_is_recursive(d->s, node);

	sheet_text(d->sheet, d->section);
	sheet_number(d->sheet, node + 1ull);
	if (pair->a == NO_STACK)
		sheet_null(d->sheet);
	else
		sheet_number(d->sheet, pair->a + 1ull);
	sheet_number(d->sheet, depth);
	sheet_number(d->sheet, s->n_calls);
	if (is_recursive) {
		sheet_null(d->sheet);
		sheet_null(d->sheet);
		sheet_null(d->sheet);
	} else {
		sheet_number(d->sheet, s->total_ns);
		sheet_number(d->sheet, total_self(s));
		sheet_percent(d->sheet, s->total_ns, d->c->total_ns);
	}
	sheet_text(d->sheet, f->name);
	sheet_text(d->sheet, f->simple);
	sheet_text(d->sheet, f->symbol);
	sheet_text(d->sheet, f->module);
	sheet_truth(d->sheet, is_recursive);
	if (is_recursive)
		sheet_null(d->sheet);
	else
		sheet_number(d->sheet, s->n_stopped);
}

static void put_row(struct drawing *d, uint32_t node, uint32_t depth)
{
	if (d->sheet)
		put_sheet_row(d, node, depth);
	else
		put_text_row(d, node, depth);
}

/* A stack of our own: the tree may be deeper than a thread's. */
static int put_rows(struct drawing *d)
{
	auto_free uint32_t *path =
		malloc((d->s->nodes.n + 1ull) * sizeof(*path));
	uint32_t depth = 0; /* path[i]: where in children the walk is */

	if (!path)
		return CST_MEMORY;
	path[0] = d->first[0];
	for (;;) {
		uint32_t above = depth ? d->children[path[depth - 1]] + 1 : 0;

		if (path[depth] == d->first[above + 1]) {
			if (!depth--)
				return 0;
			path[depth]++;
			continue;
		}
		if (!d->is_shown[d->children[path[depth]]]) {
			path[depth]++;
			continue;
		}
		put_row(d, d->children[path[depth]], depth);
		path[depth + 1] = d->first[d->children[path[depth]] + 1];
		depth++;
	}
}

static int draw(struct drawing *d, const char *section,
		const struct call_paths *s)
{
	size_t n = s->nodes.n + (size_t)2;
	auto_free struct rank *ranks = malloc(n * sizeof(*ranks));
	auto_free uint32_t *children = malloc(n * sizeof(*children));
	auto_free uint32_t *first = malloc(n * sizeof(*first));
	auto_free uint8_t *is_shown = calloc(n, 1);

	if (!ranks || !children || !first || !is_shown)
		return CST_MEMORY;
	d->s = s;
	d->section = section;
	d->children = children;
	d->first = first;
	d->is_shown = is_shown;
	choose_nodes(d, ranks);
	order_nodes(d, ranks);
	return put_rows(d);
}

/* ---- the whole ---------------------------------------------------------- */

static void put_words(struct drawing *d, const char *words)
{
	bytes_put(d->out, words, strlen(words));
}

/* "# 9 rows are left out; -depth 0 shows them": of the options only those that
 * were given. */
static void put_left_out(struct drawing *d)
{
	const char *dash = d->words == CST_WORDS_GDB ? " -" : " --";
	const struct {
		const char *name;
		uint32_t value;
	} limits[] = {{"depth 0", d->graph->depth},
		      {"limit 0", d->graph->limit},
		      {"min-share 0", d->graph->min_share_ppm}};
	unsigned n_options = 0;

	PUT(d->out, "# ");
	put_number(d->out, d->n_left_out);
	put_words(d, d->n_left_out == 1 ? " row is left out;"
					: " rows are left out;");
	for (unsigned i = 0; i < 3; i++) {
		if (!limits[i].value)
			continue;
		put_words(d, dash);
		put_words(d, limits[i].name);
		n_options++;
	}
	put_words(d, n_options == 1 ? " shows " : " show ");
	put_words(d, d->n_left_out == 1 ? "it\n" : "them\n");
}

static void put_notes(struct drawing *d)
{
	uint64_t n_lost = (uint64_t)d->c->callees.n_left_out;
	char *p = d->is_marked ? (char *)bytes_reserve(d->out, ROW_ROOM) : NULL;

	if (p)
		d->out->len += row_stops_note(p);
	if (d->n_left_out)
		put_left_out(d);
	if (n_lost) {
		PUT(d->out, "# ");
		put_number(d->out, n_lost);
		PUT(d->out, " calls counted in their callers: too many "
			    "different paths\n");
	}
}

static int put_text(struct drawing *d)
{
	static const char heading[] =
		"#    CALLS       TOTAL        SELF   SHARE  FUNCTION\n";
	int status = 0;

	if (d->graph->function) {
		PUT(d->out, "# Callers: each line calls the one that it is "
			    "indented below\n");
		PUT(d->out, heading);
		status = draw(d, "callers", &d->c->callers);
		PUT(d->out, "# Callees\n");
	}
	PUT(d->out, heading);
	if (status == 0)
		status = draw(d, "callees", &d->c->callees);
	put_notes(d);
	return status;
}

static int put_sheet(struct drawing *d)
{
	struct sheet *sheet = &d->own;
	int status = 0;

	d->sheet = sheet;
	sheet_begin(sheet, (enum cst_output)d->graph->output, d->out);
	sheet_member_number(sheet, "total_ns", d->c->total_ns);
	sheet_member_number(sheet, "calls", (uint64_t)d->c->n_calls);
	sheet_table(sheet, "rows", columns);
	if (d->graph->function)
		status = draw(d, "callers", &d->c->callers);
	if (status == 0)
		status = draw(d, d->graph->function ? "callees" : "tree",
			      &d->c->callees);
	sheet_table_end(sheet);
	sheet_member_number(sheet, "rows_left_out", d->n_left_out);
	sheet_end(sheet);
	return status;
}

int64_t calltree_write(const struct cst_trace *t, const struct cst_graph *graph,
		       const struct cst_choice *choice, cst_write_fn write,
		       void *arg, struct cst_error *err)
{
	struct calltree c;
	struct bytes out = {0};
	struct drawing d = {.c = &c,
			    .graph = graph,
			    .words = (enum cst_words)choice->words,
			    .out = &out};
	int64_t n = calltree_make(&c, t, graph->function, choice, err);

	if (n < 0)
		return n;
	n = c.n_calls;
	if ((graph->output ? put_sheet(&d) : put_text(&d)) < 0 || out.failed)
		n = cst_fail_memory(err);
	if (n >= 0 && (n || graph->output) &&
	    write(arg, (const char *)out.data, out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&out);
	calltree_release(&c);
	return n;
}
