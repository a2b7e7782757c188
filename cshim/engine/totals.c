/* SPDX-License-Identifier: MIT */
#include "totals.h"
#include "filter.h"
#include "number.h"
#include "row.h"
#include "share.h"
#include "sheet.h"

#include <stdlib.h>

struct rank {
	uint64_t sort;
	uint32_t function, key; /* function UINT32_MAX: no caller */
};

static uint64_t self_of(const struct total *f)
{
	return f->self_ns > 0 ? (uint64_t)f->self_ns : 0;
}

static uint64_t sort_value(const struct total *f, enum cst_sort sort)
{
	switch (sort) {
	case CST_SORT_SELF:
		return self_of(f);
	case CST_SORT_CALLS:
		return f->n_calls;
	case CST_SORT_MAX:
		return f->max_ns;
	default:
		return f->total_ns;
	}
}

static int rank_compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->sort != y->sort)
		return x->sort > y->sort ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

/* Those that have calls and match, in order. */
static int64_t rank_totals(const struct total *totals, const struct keys *keys,
			   const struct cst_report *report, struct rank *ranks,
			   struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = report->regex};
	struct filter *filter = NULL;
	int64_t n = 0;

	if (report->regex && filter_new(&choice, &filter, err) < 0)
		return CST_BAD_INPUT;
	for (uint32_t i = 0; i <= keys->n; i++) {
		uint32_t function =
			i < keys->n ? keys->all[i].function : UINT32_MAX;

		if (!totals[i].n_calls ||
		    (filter &&
		     (i == keys->n ||
		      !filter_excludes(filter, keys->names, function))))
			continue;
		ranks[n++] = (struct rank){sort_value(&totals[i], report->sort),
					   function, i};
	}
	filter_free(filter);
	if (n)
		qsort(ranks, (size_t)n, sizeof(*ranks), rank_compare);
	return n;
}

static void put_row(const struct total *f, const struct keys *keys,
		    uint32_t key, uint64_t whole, struct bytes *out)
{
	char *begin = (char *)bytes_reserve(out, ROW_MAX), *p = begin;
	uint64_t times[] = {f->total_ns, self_of(f), f->total_ns / f->n_calls,
			    f->min_ns, f->max_ns};

	if (!begin)
		return;
	p = number_put_wide(p, f->n_calls, 10);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		memcpy(p, "  ", 2);
		p = number_put_duration(p + 2, times[i]);
	}
	p = share_put(p, self_of(f), whole);
	memcpy(p, "  ", 2);
	p = key < keys->n ? keys_put(keys, key, p + 2)
			  : row_put_text(p + 2, "(no caller)", 20);
	*p++ = '\n';
	out->len += (size_t)(p - begin);
}

static const char *const columns[] = {
	"calls",  "total_ns",	   "self_ns",  "mean_ns", "min_ns",
	"max_ns", "share_percent", "function", "symbol",  "module",
	"file",	  "line",	   NULL};

/* file and line are of the call, so only there with rows by call site. */
static void put_cells(const struct total *f, const struct keys *keys,
		      uint32_t key, uint64_t whole, struct sheet *sheet)
{
	const struct key *at = key < keys->n ? &keys->all[key] : NULL;
	const struct function *function =
		at ? &keys->names->functions[at->function] : NULL;
	const struct call_site *site =
		at && at->site != NO_KEY ? &keys->names->sites[at->site] : NULL;

	sheet_number(sheet, f->n_calls);
	sheet_number(sheet, f->total_ns);
	sheet_number(sheet, self_of(f));
	sheet_number(sheet, f->total_ns / f->n_calls);
	sheet_number(sheet, f->min_ns);
	sheet_number(sheet, f->max_ns);
	sheet_percent(sheet, self_of(f), whole);
	sheet_text(sheet, function ? function->name : NULL);
	sheet_text(sheet, function ? function->symbol : NULL);
	sheet_text(sheet, function ? function->module : NULL);
	sheet_text(sheet, site ? site->file : NULL);
	if (site && site->line)
		sheet_number(sheet, site->line);
	else
		sheet_null(sheet);
}

static void put_sheet(const struct total *totals, const struct keys *keys,
		      const struct cst_report *report, const struct rank *ranks,
		      int64_t n, uint64_t whole, struct bytes *out)
{
	struct sheet sheet;

	sheet_begin(&sheet, (enum cst_output)report->output, out);
	sheet_table(&sheet, "rows", columns);
	for (int64_t i = 0; i < n; i++)
		put_cells(&totals[ranks[i].key], keys, ranks[i].key, whole,
			  &sheet);
	sheet_table_end(&sheet);
	sheet_end(&sheet);
}

int64_t totals_put(const struct total *totals, const struct keys *keys,
		   const struct cst_report *report, struct bytes *out,
		   struct cst_error *err)
{
	static const char heading[] =
		"#    CALLS       TOTAL        SELF        MEAN         MIN"
		"         MAX  SHARE  FUNCTION\n";
	size_t size = (keys->n + (size_t)1) * sizeof(struct rank);
	auto_free struct rank *ranks = malloc(size);
	uint64_t whole = 0;
	int64_t n;

	if (!ranks)
		return cst_fail_memory(err);
	n = rank_totals(totals, keys, report, ranks, err);
	if (n < 0)
		return n;
	if (report->limit && n > report->limit)
		n = report->limit;
	for (uint32_t i = 0; i <= keys->n; i++)
		whole += self_of(&totals[i]);
	if (report->output)
		put_sheet(totals, keys, report, ranks, n, whole, out);
	else
		bytes_put(out, heading, sizeof(heading) - 1);
	for (int64_t i = 0; i < n && !report->output; i++)
		put_row(&totals[ranks[i].key], keys, ranks[i].key, whole, out);
	return out->failed ? cst_fail_memory(err) : n;
}
