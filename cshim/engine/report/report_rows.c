/* SPDX-License-Identifier: MIT
 *
 * Sorts the totals of a report and writes them as text, JSON or CSV.
 */
#include "report/report_rows.h"
#include "names/filter.h"
#include "names/sheet.h"
#include "report/fields.h"
#include "rows/row.h"
#include "trace/loader.h"

#include <stdlib.h>

struct rank {
	const struct total *total;
	uint32_t function, key; /* function UINT32_MAX: no caller */
};

struct order {
	struct fields by;
	const struct keys *keys;
};

static const char *name_of(const struct order *o, const struct rank *rank)
{
	return rank->function == UINT32_MAX || o->keys->threads_of
		       ? ""
		       : o->keys->names->functions[rank->function].simple;
}

/* The largest first, but names from A to Z. */
static int rank_compare(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct rank *x = a, *y = b;

	for (uint32_t i = 0; i < o->by.n; i++) {
		enum field field = (enum field)o->by.all[i];
		uint64_t of_x = field_value(field, x->total);
		uint64_t of_y = field_value(field, y->total);
		int order = field == FIELD_NAME
				    ? strcmp(name_of(o, x), name_of(o, y))
				    : (of_x < of_y) - (of_x > of_y);

		if (order)
			return order;
	}
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static int sort_parse(struct fields *by, const struct cst_report *report,
		      struct cst_error *err)
{
	return fields_parse(by, report->sort ? report->sort : "total", 1, err);
}

/* Ranks the totals that have calls and match, in order. */
static int64_t rank_totals(const struct total *totals, const struct keys *keys,
			   const struct cst_report *report, struct rank *ranks,
			   struct cst_error *err)
{
	struct order order = {.keys = keys};
	const struct cst_choice choice = {.exclude = report->regex};
	struct filter *filter = NULL;
	int status = sort_parse(&order.by, report, err);
	int64_t n = 0;

	if (status == 0 && report->regex)
		status = filter_new(&choice, &filter, err);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i <= keys->n; i++) {
		uint32_t function =
			i < keys->n ? keys->all[i].function : UINT32_MAX;

		if (!totals[i].n_calls ||
		    (filter &&
		     (i == keys->n ||
		      !filter_excludes(filter, keys->names, function))))
			continue;
		ranks[n++] = (struct rank){&totals[i], function, i};
	}
	filter_free(filter);
	if (n)
		qsort_r(ranks, (size_t)n, sizeof(*ranks), rank_compare, &order);
	return n;
}

static void put_row(const struct fields *fields, const struct rank *rank,
		    const struct keys *keys, uint64_t whole, struct bytes *out,
		    uint8_t *is_marked)
{
	char *begin = (char *)bytes_reserve(out, ROW_MAX), *p = begin;

	if (!begin)
		return;
	p = fields_put(fields, rank->total, whole, p, is_marked);
	p = rank->key < keys->n ? report_keys_put(keys, rank->key, p)
				: row_put_text(p, "(no caller)", 20);
	*p++ = '\n';
	out->len += (size_t)(p - begin);
}

static void put_text(const struct fields *fields, const struct rank *ranks,
		     int64_t n, const struct keys *keys, uint64_t whole,
		     struct bytes *out)
{
	const char *last = keys->threads_of ? "  THREAD\n" : "  FUNCTION\n";
	uint8_t is_marked = 0;
	char *p;

	if (!n)
		return;
	fields_put_heading(fields, out);
	bytes_put(out, last, strlen(last));
	for (int64_t i = 0; i < n; i++)
		put_row(fields, &ranks[i], keys, whole, out, &is_marked);
	p = is_marked ? (char *)bytes_reserve(out, ROW_MAX) : NULL;
	if (p)
		out->len += row_stops_note(p);
}

static void put_cells(const struct fields *fields, const struct rank *rank,
		      const struct keys *keys, uint64_t whole,
		      struct sheet *sheet)
{
	for (uint32_t i = 0; i < fields->n; i++) {
		enum field field = (enum field)fields->all[i];
		uint64_t value = field_value(field, rank->total);

		if (field == FIELD_SHARE)
			sheet_percent(sheet, value, whole);
		else if (field == FIELD_ERROR)
			sheet_percent(sheet, value, 1000000);
		else if (field == FIELD_SIZE && !value)
			sheet_null(sheet);
		else
			sheet_number(sheet, value);
	}
	report_keys_put_cells(keys, rank->key, sheet);
	/* Calls that gdb stopped the program in. */
	sheet_number(sheet, rank->total->n_stopped);
}

static void put_sheet(const struct fields *fields, const struct rank *ranks,
		      int64_t n, const struct keys *keys, uint64_t whole,
		      const struct messages *messages, enum cst_output output,
		      struct bytes *out)
{
	const char *const *names = report_keys_columns(keys);
	const char *columns[N_FIELDS + 8];
	struct sheet sheet;
	uint32_t k = 0;

	for (uint32_t i = 0; i < fields->n; i++)
		columns[k++] = field_cell((enum field)fields->all[i]);
	while (*names)
		columns[k++] = *names++;
	columns[k++] = "stopped_calls";
	columns[k] = NULL;
	sheet_begin(&sheet, output, out);
	sheet_table(&sheet, "rows", columns);
	for (int64_t i = 0; i < n; i++)
		put_cells(fields, &ranks[i], keys, whole, &sheet);
	sheet_table_end(&sheet);
	if (messages)
		messages_put_sheet(messages, &sheet);
	sheet_end(&sheet);
}

/* ---- the whole ---------------------------------------------------------- */

static int fields_shown(struct fields *f, const struct cst_report *report,
			int is_sampled, struct cst_error *err)
{
	if (report->fields)
		return fields_parse(f, report->fields, 0, err);
	if (is_sampled)
		fields_default_sampled(f);
	else
		fields_default(f);
	return 0;
}

int cst_report_check(const struct cst_report *report, struct cst_error *err)
{
	struct fields by, shown;
	int status = sort_parse(&by, report, err);

	if (status == 0)
		status = fields_shown(&shown, report, 0, err);
	if (status < 0)
		return status;
	if (report->callers && report->callees)
		return cst_fail(CST_BAD_INPUT, err,
				"either callers or callees: ask twice");
	if (report->by == CST_BY_THREAD &&
	    (report->callers || report->callees || report->regex))
		return cst_fail(CST_BAD_INPUT, err,
				"a report by thread has no functions: filter "
				"chooses the calls that it sums up");
	if (report->by == CST_BY_THREAD &&
	    (fields_have(&by, FIELD_SIZE) || fields_have(&shown, FIELD_SIZE)))
		return cst_fail(CST_BAD_INPUT, err,
				"a report by thread has no sizes: they are of "
				"functions");
	return 0;
}

int64_t report_rows_put(const struct total *totals, const struct keys *keys,
			const struct cst_report *report, int is_sampled,
			struct messages *messages, struct bytes *out,
			struct cst_error *err)
{
	size_t size = (keys->n + (size_t)1) * sizeof(struct rank);
	auto_free struct rank *ranks = NULL;
	struct fields fields;
	uint64_t whole = 0;
	int status;
	int64_t n = fields_shown(&fields, report, is_sampled, err);

	if (n < 0)
		return n;
	ranks = malloc(size);
	if (!ranks)
		return cst_fail_memory(err);
	n = rank_totals(totals, keys, report, ranks, err);
	if (n < 0)
		return n;
	if (report->output == CST_OUTPUT_CSV)
		messages = NULL;
	status = messages ? messages_rank(messages, report, err) : 0;
	if (status < 0)
		return status;
	if (report->limit && n > report->limit)
		n = report->limit;
	for (uint32_t i = 0; i <= keys->n; i++)
		whole += total_self(&totals[i]);
	if (report->output)
		put_sheet(&fields, ranks, n, keys, whole, messages,
			  (enum cst_output)report->output, out);
	else
		put_text(&fields, ranks, n, keys, whole, out);
	if (messages && !report->output)
		messages_put_text(messages, out);
	return out->failed ? cst_fail_memory(err)
	       : messages  ? n + messages->n
			   : n;
}
