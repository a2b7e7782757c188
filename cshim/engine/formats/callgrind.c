/* SPDX-License-Identifier: MIT
 *
 * The readers take a function's inclusive cost from the calls that lead to it:
 * so the outermost calls come from a function of their own, and of calls of a
 * function that is open already only the number counts.  Where a function
 * begins is not known: its own cost stands at line 0 of its file.  But
 * callgrind_annotate wants a line with a cost, be it none, where something is
 * called, and one at least in each file.
 */
#include "formats/callgrind.h"
#include "base/pipeline.h"
#include "formats/graph.h"
#include "names/put.h"
#include "rows/row.h"

#include <stdlib.h>

enum { NAME_ROOM = 4000, NAME_MAX_BYTES = 4096, ROOT_NUMBER = 0 };

struct callgrind {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct graph graph;
	uint32_t *arcs;	    /* sorted by caller */
	uint32_t *firsts;   /* by caller (NO_CALLER the last): its first arc */
	const char **files; /* all that there are, sorted by address */
	uint32_t n_files;
	uint8_t *is_named[3]; /* by number: objects and files, functions */
	uint8_t *has_line;    /* by file number */
	int is_made;
	uint32_t next;	  /* function */
	const char *file; /* where the lines are */
};

static void put_text(struct bytes *out, const char *text)
{
	char *begin = (char *)bytes_reserve(out, NAME_MAX_BYTES);

	if (begin)
		out->len +=
			(size_t)(row_put_text(begin, text, NAME_ROOM) - begin);
}

/* ---- names, each once --------------------------------------------------- */

enum { OBJECTS = 0, FILES = 1, FUNCTIONS = 2 };

static int address_compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (const char *const *)a;
	uintptr_t y = (uintptr_t) * (const char *const *)b;

	return (x > y) - (x < y);
}

/* Equal strings of the names are one pointer. */
static uint32_t file_number(const struct callgrind *c, const char *file)
{
	const char **found = bsearch(&file, c->files, c->n_files,
				     sizeof(*c->files), address_compare);

	return (uint32_t)(found - c->files) + 1;
}

/* "fl=(3) src/app.c" at first, then "fl=(3)". */
static void put_named(struct callgrind *c, const char *key, int kind,
		      uint32_t number, const char *name, struct bytes *out)
{
	uint8_t *is_named = &c->is_named[kind][number];

	bytes_put(out, key, strlen(key));
	PUT(out, "=(");
	put_number(out, number);
	PUT(out, ")");
	if (!*is_named) {
		PUT(out, " ");
		put_text(out, name);
	}
	PUT(out, "\n");
	*is_named = 1;
}

/* A source or object file, or NULL. */
static void put_file(struct callgrind *c, const char *key, int kind,
		     const char *file, struct bytes *out)
{
	put_named(c, key, kind, file ? file_number(c, file) : 0,
		  file ? file : "???", out);
}

/* ---- functions ---------------------------------------------------------- */

static void put_cost(uint32_t line, uint64_t ns, struct bytes *out)
{
	put_number(out, line);
	PUT(out, " ");
	put_number(out, ns);
	PUT(out, "\n");
}

static void put_arc(struct callgrind *c, uint32_t arc, struct bytes *out)
{
	const struct names *names = c->t->names;
	const struct call_site *site = &names->sites[c->graph.arcs.all[arc].b];
	const struct function *callee = &names->functions[site->function];
	const struct graph_arc *sums = &c->graph.sums[arc];
	/* What is called from nowhere has no place in a file of ours. */
	const char *file =
		c->graph.arcs.all[arc].a == NO_CALLER ? NULL : site->file;

	if (file != c->file) {
		put_file(c, "fi", FILES, file, out);
		c->file = file;
	}
	if (file && site->line)
		put_cost(site->line, 0, out);
	put_file(c, "cob", OBJECTS, callee->module, out);
	put_file(c, "cfi", FILES, callee->file, out);
	put_named(c, "cfn", FUNCTIONS, site->function + 1, callee->name, out);
	PUT(out, "calls=");
	put_number(out, sums->n_calls);
	PUT(out, " 0\n");
	put_cost(file ? site->line : 0, sums->total_ns, out);
}

static void put_function(struct callgrind *c, uint32_t id, struct bytes *out)
{
	uint32_t n_functions = c->t->names->n_functions;
	const struct function *f =
		id < n_functions ? &c->t->names->functions[id] : NULL;

	if (f && !c->graph.functions[id].n_calls)
		return;
	PUT(out, "\n");
	put_file(c, "ob", OBJECTS, f ? f->module : NULL, out);
	put_file(c, "fl", FILES, f ? f->file : NULL, out);
	c->file = f ? f->file : NULL;
	if (f)
		put_named(c, "fn", FUNCTIONS, id + 1, f->name, out);
	else
		put_named(c, "fn", FUNCTIONS, ROOT_NUMBER, "(root)", out);
	put_cost(0, f ? total_self(&c->graph.functions[id]) : 0, out);
	if (f && f->file && !c->has_line[file_number(c, f->file)])
		put_cost(1, 0, out);
	for (uint32_t i = c->firsts[id]; i < c->firsts[id + 1]; i++)
		put_arc(c, c->arcs[i], out);
}

/* ---- the whole ---------------------------------------------------------- */

static int list_files(struct callgrind *c)
{
	const struct names *names = c->t->names;
	size_t most = names->n_functions * (size_t)2 + names->n_sites;
	uint32_t n = 0, kept = 0;

	c->files = malloc((most + 1) * sizeof(*c->files));
	if (!c->files)
		return CST_MEMORY;
	for (uint32_t i = 0; i < names->n_functions; i++) {
		c->files[n++] = names->functions[i].file;
		c->files[n++] = names->functions[i].module;
	}
	for (uint32_t i = 0; i < names->n_sites; i++)
		c->files[n++] = names->sites[i].file;
	if (n)
		qsort(c->files, n, sizeof(*c->files), address_compare);
	for (uint32_t i = 0; i < n; i++)
		if (c->files[i] && (!kept || c->files[kept - 1] != c->files[i]))
			c->files[kept++] = c->files[i];
	c->n_files = kept;
	return 0;
}

/* Sorts by counting: the callers are numbers. */
static int sort_arcs(struct callgrind *c)
{
	uint32_t n = c->t->names->n_functions;
	const struct pairs *arcs = &c->graph.arcs;

	c->arcs = malloc((arcs->n + (size_t)1) * sizeof(*c->arcs));
	c->firsts = calloc(n + (size_t)3, sizeof(*c->firsts));
	if (!c->arcs || !c->firsts)
		return CST_MEMORY;
	for (uint32_t i = 0; i < arcs->n; i++)
		c->firsts[(arcs->all[i].a < n ? arcs->all[i].a : n) + 2]++;
	for (uint32_t i = 0; i <= n; i++)
		c->firsts[i + 2] += c->firsts[i + 1];
	for (uint32_t i = 0; i < arcs->n; i++) {
		uint32_t a = arcs->all[i].a < n ? arcs->all[i].a : n;

		c->arcs[c->firsts[a + 1]++] = i;
	}
	return 0;
}

/* Files in which something is called. */
static int mark_lines(struct callgrind *c)
{
	const struct pairs *arcs = &c->graph.arcs;

	c->has_line = calloc(c->n_files + (size_t)1, 1);
	for (uint32_t i = 0; c->has_line && i < arcs->n; i++) {
		const struct call_site *site =
			&c->t->names->sites[arcs->all[i].b];

		if (arcs->all[i].a != NO_CALLER && site->file && site->line)
			c->has_line[file_number(c, site->file)] = 1;
	}
	return c->has_line ? 0 : CST_MEMORY;
}

static int callgrind_make(struct callgrind *c, struct cst_error *err)
{
	int status = graph_make(&c->graph, c->t, c->choice, err);

	if (status < 0)
		return status;
	if (list_files(c) < 0 || sort_arcs(c) < 0 || mark_lines(c) < 0)
		return cst_fail_memory(err);
	for (int i = 0; i < 3; i++) {
		c->is_named[i] = calloc(
			c->n_files + c->t->names->n_functions + (size_t)2, 1);
		if (!c->is_named[i])
			return cst_fail_memory(err);
	}
	c->is_made = 1;
	return 0;
}

static void put_head(const struct callgrind *c, struct bytes *out)
{
	PUT(out, "# callgrind format\nversion: 1\ncreator: cstrace " CST_VERSION
		 "\n");
	if (c->t->n_threads) {
		PUT(out, "pid: ");
		put_number(out, c->t->threads[0].pid);
		PUT(out, "\n");
	}
	PUT(out, "cmd: ");
	put_text(out, c->t->command);
	if (c->graph.is_stopped)
		PUT(out, "\ndesc: Note: gdb stopped the program in some "
			 "calls; their time includes what that took");
	PUT(out, "\npart: 1\n\npositions: line\nevent: ns : Nanoseconds\n"
		 "events: ns\nsummary: ");
	put_number(out, c->graph.total_ns);
	PUT(out, "\n");
}

static int callgrind_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct callgrind *c = arg;
	uint32_t n = c->t->names->n_functions;
	int status;

	if (!c->is_made) {
		status = callgrind_make(c, err);
		if (status < 0)
			return status;
		put_head(c, out);
	}
	for (; c->next <= n && out->len < PUMP_BLOCK; c->next++)
		put_function(c, c->next, out);
	if (c->next > n) {
		PUT(out, "\ntotals: ");
		put_number(out, c->graph.total_ns);
		PUT(out, "\n");
	}
	return out->failed ? cst_fail_memory(err) : c->next <= n;
}

int64_t callgrind_write(const struct cst_trace *t,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err)
{
	struct callgrind c = {.t = t, .choice = choice};
	int64_t status = pipeline_run(callgrind_fill, &c, write, arg, err);

	if (status == 0)
		status = c.graph.n_calls;
	graph_release(&c.graph);
	free(c.arcs);
	free(c.firsts);
	free(c.files);
	free(c.has_line);
	for (int i = 0; i < 3; i++)
		free(c.is_named[i]);
	return status;
}
