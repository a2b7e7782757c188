/* SPDX-License-Identifier: MIT
 *
 * Numbers the functions and call sites of two traces together: functions by
 * name, call sites by file and line, and those whose lines have moved as
 * match_lines.c matches them.
 */
#include "diff/match_functions.h"
#include "base/text.h"
#include "diff/match_lines.h"
#include "trace/site_caller.h"

#include <stdlib.h>

/* A function's name with where it is from, to be sorted. */
struct named {
	const char *name, *module;
	uint32_t trace, index;
};

void matched_functions_release(struct matched_functions *j)
{
	for (int i = 0; i < 2; i++) {
		free(j->functions[i]);
		free(j->sites[i]);
	}
	free(j->function_items);
	free(j->site_items);
	*j = (struct matched_functions){0};
}

/* ---- functions ---------------------------------------------------------- */

static int text_compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int named_compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = text_compare(x->module, y->module);
	if (!order && x->trace != y->trace)
		order = x->trace < y->trace ? -1 : 1;
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The n functions of one name: do two modules of one trace have it? */
static int is_of_many(const struct named *f, uint32_t n)
{
	const char *module[2] = {NULL, NULL};
	int is_seen[2] = {0, 0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = f[i].trace;

		if (is_seen[t] && text_compare(module[t], f[i].module))
			return 1;
		is_seen[t] = 1;
		module[t] = f[i].module;
	}
	return 0;
}

static void number_functions(struct matched_functions *j, const struct named *f,
			     uint32_t n)
{
	uint32_t end;

	for (uint32_t at = 0; at < n; at = end) {
		int is_by_module;

		for (end = at + 1; end < n; end++)
			if (strcmp(f[end].name, f[at].name))
				break;
		is_by_module = is_of_many(f + at, end - at);
		for (uint32_t i = at; i < end; i++) {
			if (i == at ||
			    (is_by_module &&
			     text_compare(f[i].module, f[i - 1].module)))
				j->function_items[j->n_functions++] =
					(struct matched_functions_item){
						.trace = f[i].trace,
						.index = f[i].index};
			j->functions[f[i].trace][f[i].index] =
				j->n_functions - 1;
		}
	}
}

static int join_functions(struct matched_functions *j)
{
	uint32_t n = j->traces[0]->names->n_functions +
		     j->traces[1]->names->n_functions;
	auto_free struct named *all = calloc(n + 1ull, sizeof(*all));
	uint32_t at = 0;

	if (!all)
		return CST_MEMORY;
	for (uint32_t t = 0; t < 2; t++) {
		const struct names *names = j->traces[t]->names;

		for (uint32_t i = 0; i < names->n_functions; i++)
			all[at++] = (struct named){names->functions[i].name,
						   names->functions[i].module,
						   t, i};
	}
	qsort(all, n, sizeof(*all), named_compare);
	number_functions(j, all, n);
	return 0;
}

/* ---- is it the same build? ---------------------------------------------- */

struct distance {
	const char *module;
	uint64_t bytes;
};

static int distance_compare(const void *a, const void *b)
{
	const struct distance *x = a, *y = b;
	int order = text_compare(x->module, y->module);

	return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Between two runs of one build all functions of a module lie apart by the
 * same distance, of whole pages. */
static int is_same_build(const struct matched_functions *j)
{
	const struct names *a = j->traces[0]->names, *b = j->traces[1]->names;
	auto_free struct distance *all =
		calloc(b->n_functions + 1ull, sizeof(*all));
	auto_free uint64_t *addrs =
		calloc(j->n_functions + 1ull, sizeof(*addrs));
	uint32_t n = 0;

	if (!all || !addrs)
		return 0;
	for (uint32_t i = 0; i < a->n_functions; i++)
		addrs[j->functions[0][i]] = a->functions[i].addr;
	for (uint32_t i = 0; i < b->n_functions; i++) {
		uint64_t addr = addrs[j->functions[1][i]];

		if (addr)
			all[n++] =
				(struct distance){b->functions[i].module,
						  b->functions[i].addr - addr};
	}
	qsort(all, n, sizeof(*all), distance_compare);
	for (uint32_t i = 0; i < n; i++)
		if (all[i].bytes % 4096 ||
		    (i && !text_compare(all[i].module, all[i - 1].module) &&
		     all[i].bytes != all[i - 1].bytes))
			return 0;
	return n > 1;
}

/* ---- call sites --------------------------------------------------------- */

/* A trace's sites, in order of file, line, callee and caller. */
struct places {
	struct place *all;
	uint32_t n;
};

static const char *file_of(const struct call_site *site)
{
	return site->file && site->line ? text_last_name(site->file) : "";
}

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order && x->line != y->line)
		order = x->line < y->line ? -1 : 1;
	if (!order && x->function != y->function)
		order = x->function < y->function ? -1 : 1;
	if (!order && x->caller != y->caller)
		order = x->caller < y->caller ? -1 : 1;
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int is_one_place(const struct place *a, const struct place *b)
{
	return a->line == b->line && a->function == b->function &&
	       a->caller == b->caller && !strcmp(a->file, b->file);
}

static int places_init(struct places *p, const struct matched_functions *j,
		       uint32_t t, struct cst_error *err)
{
	const struct names *names = j->traces[t]->names;
	auto_free uint32_t *origins =
		calloc(names->n_sites + 1ull, sizeof(*origins));
	int status;

	p->n = names->n_sites;
	p->all = calloc(p->n + 1ull, sizeof(*p->all));
	if (!origins || !p->all)
		return cst_fail_memory(err);
	status = site_caller_find(j->traces[t], origins, err);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < p->n; i++)
		p->all[i] = (struct place){
			.file = file_of(&names->sites[i]),
			.function = j->functions[t][names->sites[i].function],
			.caller = origins[i] == NO_ORIGIN
					  ? NO_ORIGIN
					  : j->functions[t][origins[i]],
			.line = names->sites[i].line,
			.index = i};
	qsort(p->all, p->n, sizeof(*p->all), place_compare);
	return 0;
}

static uint32_t add_site(struct matched_functions *j, uint32_t t,
			 const struct place *p)
{
	j->site_items[j->n_sites] =
		(struct matched_functions_item){t, p->index, p->function, 0};
	return j->n_sites++;
}

/* Where only one trace knows the file, the function alone counts. */
static void number_by_function(struct matched_functions *j, uint32_t t,
			       const struct place *p, uint32_t n,
			       uint32_t *by_function)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *number = &by_function[p[i].function];

		if (!*number) {
			*number = add_site(j, t, &p[i]) + 1;
			j->site_items[*number - 1].is_anywhere = 1;
		}
		j->sites[t][p[i].index] = *number - 1;
	}
}

/* The first of each place, moved to the front of out. */
static uint32_t distinct(const struct place *p, uint32_t n, struct place *out)
{
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!i || !is_one_place(&p[i], &p[i - 1]))
			out[n_out++] = p[i];
	return n_out;
}

/* Give the sites of trace t the numbers of their places. */
static void spread(struct matched_functions *j, uint32_t t,
		   const struct place *p, uint32_t n, const uint32_t *numbers)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		at += i && !is_one_place(&p[i], &p[i - 1]);
		j->sites[t][p[i].index] = numbers[at];
	}
}

/* One file that both know. */
static int number_by_line(struct matched_functions *j, const struct place *p[2],
			  const uint32_t n[2], int is_same)
{
	uint64_t n_all = (uint64_t)n[0] + n[1] + 1;
	auto_free struct place *places = calloc(n_all, sizeof(*places));
	auto_free uint32_t *numbers = calloc(n_all, sizeof(*numbers));
	struct place *a, *b;
	uint32_t *in_a, *in_b, n_a, n_b;

	if (!places || !numbers)
		return CST_MEMORY;
	a = places;
	b = places + n[0];
	in_a = numbers;
	in_b = numbers + n[0];
	n_a = distinct(p[0], n[0], a);
	n_b = distinct(p[1], n[1], b);
	if (match_lines(a, n_a, b, n_b, is_same, in_a) < 0)
		return CST_MEMORY;
	for (uint32_t i = 0; i < n_a; i++) {
		uint32_t partner = in_a[i];

		in_a[i] = add_site(j, 0, &a[i]);
		if (partner)
			in_b[partner - 1] = in_a[i] + 1;
	}
	for (uint32_t i = 0; i < n_b; i++)
		in_b[i] = in_b[i] ? in_b[i] - 1 : add_site(j, 1, &b[i]);
	spread(j, 0, p[0], n[0], in_a);
	spread(j, 1, p[1], n[1], in_b);
	return 0;
}

static uint32_t length_of_file(const struct place *p, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && !strcmp(p[i].file, p->file))
		i++;
	return i;
}

static int number_sites(struct matched_functions *j,
			const struct places places[2], uint32_t *by_function)
{
	const struct place *p[2] = {places[0].all, places[1].all};
	const struct place *end[2] = {p[0] + places[0].n, p[1] + places[1].n};
	int is_same = is_same_build(j);

	while (p[0] < end[0] || p[1] < end[1]) {
		int order = p[0] == end[0]   ? 1
			    : p[1] == end[1] ? -1
					     : strcmp(p[0]->file, p[1]->file);
		uint32_t n[2] = {0, 0};

		for (int t = 0; t < 2; t++)
			if (t ? order >= 0 : order <= 0)
				n[t] = length_of_file(
					p[t], (uint32_t)(end[t] - p[t]));
		if (n[0] && n[1] && *p[0]->file) {
			if (number_by_line(j, p, n, is_same) < 0)
				return CST_MEMORY;
		} else {
			number_by_function(j, 0, p[0], n[0], by_function);
			number_by_function(j, 1, p[1], n[1], by_function);
		}
		p[0] += n[0];
		p[1] += n[1];
	}
	return 0;
}

static int join_sites(struct matched_functions *j, struct cst_error *err)
{
	auto_free uint32_t *by_function =
		calloc(j->n_functions + 1ull, sizeof(*by_function));
	struct places places[2] = {{0}};
	int status = by_function ? 0 : cst_fail_memory(err);

	for (uint32_t t = 0; t < 2 && status == 0; t++)
		status = places_init(&places[t], j, t, err);
	if (status == 0 && number_sites(j, places, by_function) < 0)
		status = cst_fail_memory(err);
	free(places[0].all);
	free(places[1].all);
	return status;
}

int matched_functions_init(struct matched_functions *j,
			   const struct cst_trace *a, const struct cst_trace *b,
			   struct cst_error *err)
{
	const struct names *names[2] = {a->names, b->names};
	uint64_t n_functions = 1, n_sites = 1;

	*j = (struct matched_functions){.traces = {a, b}};
	for (int t = 0; t < 2; t++) {
		n_functions += names[t]->n_functions;
		n_sites += names[t]->n_sites;
		j->functions[t] = calloc(names[t]->n_functions + 1ull,
					 sizeof(**j->functions));
		j->sites[t] =
			calloc(names[t]->n_sites + 1ull, sizeof(**j->sites));
		if (!j->functions[t] || !j->sites[t])
			return cst_fail_memory(err);
	}
	j->function_items = calloc(n_functions, sizeof(*j->function_items));
	j->site_items = calloc(n_sites, sizeof(*j->site_items));
	if (!j->function_items || !j->site_items || join_functions(j) < 0)
		return cst_fail_memory(err);
	return join_sites(j, err);
}
