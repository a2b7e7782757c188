/* SPDX-License-Identifier: MIT
 *
 * Counts messages and compares counters' values, key by key.
 */
#include "report/messages.h"
#include "base/number.h"
#include "names/filter.h"
#include "names/values_json.h"
#include "names/values_text.h"
#include "rows/row.h"

#include <stdio.h>
#include <stdlib.h>

int messages_init(struct messages *m, const struct keys *keys)
{
	const struct names *names = keys->names;
	uint32_t i = 0;

	*m = (struct messages){.keys = keys};
	while (i < names->n_functions &&
	       !function_is_message_or_counter(&names->functions[i]))
		i++;
	if (i == names->n_functions)
		return 0;
	m->sums = calloc(keys->n + (size_t)1, sizeof(*m->sums));
	m->order = malloc((keys->n + (size_t)1) * sizeof(*m->order));
	return m->sums && m->order ? 0 : CST_MEMORY;
}

void messages_release(struct messages *m)
{
	free(m->sums);
	free(m->order);
	*m = (struct messages){0};
}

/* ---- sums ---------------------------------------------------------------- */

void messages_take(struct messages *m, uint32_t key, uint64_t tick,
		   const struct value *v)
{
	struct message_sum *sum = &m->sums[key];
	long double number;

	sum->n++;
	if (!v || !value_as_number(v, &number))
		return;
	if (!sum->has_value || tick >= sum->last_tick) {
		sum->last = *v;
		sum->last_tick = tick;
	}
	if (!sum->has_value || number < sum->least) {
		sum->min = *v;
		sum->least = number;
	}
	if (!sum->has_value || number > sum->most) {
		sum->max = *v;
		sum->most = number;
	}
	sum->has_value = 1;
}

/* ---- rows ---------------------------------------------------------------- */

/* The keys are in the order of their names. */
static int by_frequency(const void *a, const void *b, void *arg)
{
	const struct message_sum *sums = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (sums[x].n != sums[y].n)
		return sums[x].n < sums[y].n ? 1 : -1;
	return (x > y) - (x < y);
}

int messages_rank(struct messages *m, const struct cst_report *report,
		  struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = report->regex};
	struct filter *filter = NULL;
	int status = 0;

	if (!m->sums)
		return 0;
	if (report->regex)
		status = filter_new(&choice, &filter, err);
	for (uint32_t i = 0; status == 0 && i < m->keys->n; i++)
		if (m->sums[i].n &&
		    (!filter || filter_excludes(filter, m->keys->names,
						m->keys->all[i].function)))
			m->order[m->n++] = i;
	filter_free(filter);
	if (m->n)
		qsort_r(m->order, m->n, sizeof(*m->order), by_frequency,
			m->sums);
	if (report->limit && m->n > report->limit)
		m->n = report->limit;
	for (uint32_t i = 0; i < m->n; i++)
		m->has_values |= m->sums[m->order[i]].has_value;
	return status;
}

/* It is as wide as the report's other columns. */
static char *put_value(char *p, const struct message_sum *sum,
		       const struct value *v)
{
	char text[VALUE_NUMBER_ROOM] = "-";

	if (sum->has_value)
		value_put_number(v, text);
	return p + sprintf(p, "  %10s", text);
}

static void put_row(const struct messages *m, uint32_t key, struct bytes *out)
{
	const struct message_sum *sum = &m->sums[key];
	char *begin = (char *)bytes_reserve(out, ROW_MAX), *p = begin;

	if (!begin)
		return;
	p = number_put_wide(p, sum->n, 10);
	if (m->has_values) {
		p = put_value(p, sum, &sum->last);
		p = put_value(p, sum, &sum->min);
		p = put_value(p, sum, &sum->max);
	}
	p = report_keys_put(m->keys, key, p + sprintf(p, "  "));
	*p++ = '\n';
	out->len += (size_t)(p - begin);
}

void messages_put_text(const struct messages *m, struct bytes *out)
{
	static const char messages[] = "#    TIMES  MESSAGE\n";
	static const char values[] = "#    TIMES        LAST         MIN"
				     "         MAX  COUNTER OR MESSAGE\n";

	if (m->n)
		bytes_put(out, m->has_values ? values : messages,
			  strlen(m->has_values ? values : messages));
	for (uint32_t i = 0; i < m->n; i++)
		put_row(m, m->order[i], out);
}

static void put_cell(struct sheet *sheet, const struct message_sum *sum,
		     const struct value *v)
{
	struct bytes json = {0};

	if (!sum->has_value) {
		sheet_null(sheet);
		return;
	}
	value_put_json(&json, v);
	bytes_put(&json, "", 1);
	sheet->out->failed |= json.failed;
	sheet_json(sheet, (const char *)json.data);
	bytes_release(&json);
}

void messages_put_sheet(const struct messages *m, struct sheet *sheet)
{
	static const char *const columns[] = {
		"times",  "last",   "min",  "max",  "function", "name",
		"symbol", "module", "file", "line", NULL};

	sheet_table(sheet, "messages", columns);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct message_sum *sum = &m->sums[m->order[i]];

		sheet_number(sheet, sum->n);
		put_cell(sheet, sum, &sum->last);
		put_cell(sheet, sum, &sum->min);
		put_cell(sheet, sum, &sum->max);
		report_keys_put_cells(m->keys, m->order[i], sheet);
	}
	sheet_table_end(sheet);
}
