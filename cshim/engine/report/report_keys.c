/* SPDX-License-Identifier: MIT
 *
 * Merges functions, or call sites, whose rows would read the same into one key,
 * and distinguishes names that several functions have.
 */
#include "report/report_keys.h"
#include "base/number.h"
#include "base/text.h"
#include "rows/row.h"
#include "trace/loader.h"

#include <stdlib.h>
#include <string.h>

void report_keys_release(struct keys *k)
{
	free(k->all);
	free(k->of_function);
	free(k->of_site);
	*k = (struct keys){0};
}

static int text_compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static const char *last_part(const char *path)
{
	return path ? text_last_name(path) : "";
}

/* What reads the same in a report, side by side. */
static int function_compare(const struct function *a, const struct function *b)
{
	int order = strcmp(a->name, b->name);

	if (!order)
		order = text_compare(a->module, b->module);
	if (!order)
		order = text_compare(a->file, b->file);
	return order ? order : text_compare(a->symbol, b->symbol);
}

static int by_function(const void *a, const void *b, void *arg)
{
	const struct names *n = arg;
	const uint32_t *x = a, *y = b;
	int order = function_compare(&n->functions[*x], &n->functions[*y]);

	return order ? order : (*x > *y) - (*x < *y);
}

/* The functions sorted, for the caller to free; NULL: out of memory. */
static uint32_t *sort_functions(const struct names *n)
{
	uint32_t *order = malloc((n->n_functions + (size_t)1) * sizeof(*order));

	for (uint32_t i = 0; order && i < n->n_functions; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n->n_functions, sizeof(*order), by_function,
			(void *)n);
	return order;
}

/* The keys from..to have one name: what tells them apart? */
static void tell_apart(struct keys *k, uint32_t from, uint32_t to)
{
	const struct function *functions = k->names->functions;
	uint8_t module = 0, file = 0;

	for (uint32_t i = from + 1; i < to; i++) {
		const struct function *a = &functions[k->all[i - 1].function];
		const struct function *b = &functions[k->all[i].function];

		if (text_compare(a->module, b->module))
			module = 1;
		else if (text_compare(a->file, b->file))
			file = 1;
	}
	for (uint32_t i = from; i < to; i++) {
		k->all[i].shows_module = module;
		k->all[i].shows_file = file;
	}
}

static void report_keys_functions(struct keys *k, const uint32_t *order)
{
	const struct function *functions = k->names->functions;
	uint32_t first = 0;

	for (uint32_t i = 0; i < k->names->n_functions; i++) {
		const struct function *f = &functions[order[i]];
		const struct function *before =
			k->n ? &functions[k->all[k->n - 1].function] : NULL;

		if (!before || function_compare(before, f)) {
			if (before && strcmp(before->name, f->name)) {
				tell_apart(k, first, k->n);
				first = k->n;
			}
			k->all[k->n++] = (struct key){.function = order[i],
						      .site = NO_KEY};
		}
		k->of_function[order[i]] = k->n - 1;
	}
	tell_apart(k, first, k->n);
	for (uint32_t i = 0; i < k->names->n_sites; i++)
		k->of_site[i] = k->of_function[k->names->sites[i].function];
}

static int site_compare(const struct keys *k, uint32_t a, uint32_t b)
{
	const struct call_site *x = &k->names->sites[a];
	const struct call_site *y = &k->names->sites[b];

	if (k->of_site[a] != k->of_site[b])
		return k->of_site[a] < k->of_site[b] ? -1 : 1;
	if (text_compare(x->file, y->file))
		return text_compare(x->file, y->file);
	return (x->line > y->line) - (x->line < y->line);
}

static int by_site(const void *a, const void *b, void *arg)
{
	const uint32_t *x = a, *y = b;
	int order = site_compare(arg, *x, *y);

	return order ? order : (*x > *y) - (*x < *y);
}

/* Each key of a function becomes one for each place. */
static int report_keys_sites(struct keys *k)
{
	uint32_t n = k->names->n_sites;
	uint32_t *order = malloc((n + (size_t)1) * sizeof(*order));
	uint32_t *of_site = malloc((n + (size_t)1) * sizeof(*of_site));
	struct key *all = malloc((n + (size_t)1) * sizeof(*all));

	if (!order || !of_site || !all) {
		free(order);
		free(of_site);
		free(all);
		return CST_MEMORY;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_site, k);
	k->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!i || site_compare(k, order[i - 1], order[i])) {
			all[k->n] = k->all[k->of_site[order[i]]];
			all[k->n++].site = order[i];
		}
		of_site[order[i]] = k->n - 1;
	}
	free(order);
	free(k->all);
	free(k->of_site);
	k->all = all;
	k->of_site = of_site;
	return 0;
}

int report_keys_init(struct keys *k, const struct names *names, int how,
		     enum cst_report_by by, struct cst_error *err)
{
	uint32_t *order = sort_functions(names);
	size_t n = names->n_functions + (size_t)1;
	int status = 0;

	*k = (struct keys){.names = names, .how = names_distinct(how)};
	k->all = malloc(n * sizeof(*k->all));
	k->of_function = malloc(n * sizeof(*k->of_function));
	k->of_site = malloc((names->n_sites + (size_t)1) * sizeof(*k->of_site));
	if (!order || !k->all || !k->of_function || !k->of_site)
		status = CST_MEMORY;
	else
		report_keys_functions(k, order);
	free(order);
	if (status == 0 && by == CST_BY_CALLSITE)
		status = report_keys_sites(k);
	if (status == 0)
		return 0;
	report_keys_release(k);
	return cst_fail_memory(err);
}

int report_keys_take_threads(struct keys *k, const struct cst_trace *t)
{
	struct key *all = malloc((t->n_threads + (size_t)1) * sizeof(*all));

	if (!all)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->n_threads; i++)
		all[i] = (struct key){.function = i, .site = NO_KEY};
	free(k->all);
	k->all = all;
	k->n = t->n_threads;
	k->threads_of = t;
	return 0;
}

/* "p2:t3  name (1234)" */
static char *put_thread(const struct trace_thread *t, char *p)
{
	p = row_put_thread(p, t->process, t->ordinal);
	memcpy(p, "  ", 2);
	p = row_put_text(p + 2, t->name, 100);
	memcpy(p, " (", 2);
	p = number_put(p + 2, t->tid);
	*p++ = ')';
	return p;
}

/* "  file:line", as in the tree. */
static char *put_place(const struct call_site *s, char *p)
{
	if (!s->file)
		return p;
	memcpy(p, "  ", 2);
	p = row_put_text(p + 2, last_part(s->file), 1000);
	if (s->line) {
		*p++ = ':';
		p = number_put(p, s->line);
	}
	return p;
}

static char *put_function(const struct keys *k, uint32_t key, char *p)
{
	const struct key *at = &k->all[key];
	const struct function *f = &k->names->functions[at->function];
	const char *module = at->shows_module ? last_part(f->module) : "";
	const char *file = at->shows_file ? last_part(f->file) : "";

	p = row_put_function(p, k->names, at->function, k->how, 3000);
	if (*module || *file) {
		memcpy(p, " [", 2);
		p = row_put_text(p + 2, module, 900);
		if (*module && *file)
			*p++ = ' ';
		p = row_put_text(p, file, 900);
		*p++ = ']';
	}
	return at->site == NO_KEY ? p
				  : put_place(&k->names->sites[at->site], p);
}

char *report_keys_put(const struct keys *k, uint32_t key, char *p)
{
	return k->threads_of ? put_thread(&k->threads_of->threads[key], p)
			     : put_function(k, key, p);
}

static void put_thread_cells(const struct trace_thread *t, struct sheet *sheet)
{
	sheet_number(sheet, t->process);
	sheet_number(sheet, t->ordinal);
	sheet_number(sheet, t->tid);
	sheet_text(sheet, t->name);
}

static void put_function_cells(const struct keys *k, uint32_t key,
			       struct sheet *sheet)
{
	const struct key *at = key < k->n ? &k->all[key] : NULL;
	const struct function *function =
		at ? &k->names->functions[at->function] : NULL;
	const struct call_site *site =
		at && at->site != NO_KEY ? &k->names->sites[at->site] : NULL;

	sheet_text(sheet, function ? function->name : NULL);
	sheet_text(sheet, function ? function->simple : NULL);
	sheet_text(sheet, function ? function->symbol : NULL);
	sheet_text(sheet, function ? function->module : NULL);
	sheet_text(sheet, site ? site->file : NULL);
	if (site && site->line)
		sheet_number(sheet, site->line);
	else
		sheet_null(sheet);
}

void report_keys_put_cells(const struct keys *k, uint32_t key,
			   struct sheet *sheet)
{
	if (k->threads_of)
		put_thread_cells(&k->threads_of->threads[key], sheet);
	else
		put_function_cells(k, key, sheet);
}

const char *const *report_keys_columns(const struct keys *k)
{
	static const char *const of_threads[] = {"process", "thread", "tid",
						 "name", NULL};
	static const char *const of_functions[] = {
		"function", "name", "symbol", "module", "file", "line", NULL};

	return k->threads_of ? of_threads : of_functions;
}
