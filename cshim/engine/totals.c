/* SPDX-License-Identifier: MIT */
#include "totals.h"
#include "filter.h"
#include "number.h"
#include "row.h"

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

/* " 12.3%" */
static char *put_share(char *p, uint64_t part, uint64_t whole)
{
	uint64_t tenths = whole ? (uint64_t)(((unsigned __int128)part * 1000 +
					      whole / 2) /
					     whole)
				: 0;

	p = number_put_wide(p, tenths / 10, 4);
	*p++ = '.';
	*p++ = (char)('0' + tenths % 10);
	*p++ = '%';
	return p;
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
	p = put_share(p, self_of(f), whole);
	memcpy(p, "  ", 2);
	p = key < keys->n ? keys_put(keys, key, p + 2)
			  : row_put_text(p + 2, "(no caller)", 20);
	*p++ = '\n';
	out->len += (size_t)(p - begin);
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
	bytes_put(out, heading, sizeof(heading) - 1);
	for (int64_t i = 0; i < n; i++)
		put_row(&totals[ranks[i].key], keys, ranks[i].key, whole, out);
	return out->failed ? cst_fail_memory(err) : n;
}
