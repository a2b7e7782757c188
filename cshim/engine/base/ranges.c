/* SPDX-License-Identifier: MIT
 *
 * Sorts ranges, links each to the one that contains it, and finds the innermost
 * one around an address by binary search.
 */
#include "base/ranges.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

static struct range *range_at(const void *ranges, size_t stride, uint32_t i)
{
	return (struct range *)((const char *)ranges + i * stride);
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

void ranges_sort(void *ranges, uint32_t n, size_t stride)
{
	if (n)
		qsort(ranges, n, stride, range_compare);
	ranges_link(ranges, n, stride);
}

/* What `outer` skips ended before this start, so it ends before all later
 * starts too: each range is skipped once. */
void ranges_link(void *ranges, uint32_t n, size_t stride)
{
	for (uint32_t i = 0; i < n; i++) {
		struct range *r = range_at(ranges, stride, i);
		uint32_t outer = i ? i - 1 : RANGE_NONE;

		while (outer != RANGE_NONE) {
			const struct range *o = range_at(ranges, stride, outer);

			if (o->end > r->start)
				break;
			outer = o->outer;
		}
		r->outer = outer;
	}
}

uint32_t ranges_find(const void *ranges, uint32_t n, size_t stride,
		     uint64_t addr)
{
	uint32_t below =
		search_while(k, n, range_at(ranges, stride, k)->start <= addr);
	uint32_t i = below ? below - 1 : RANGE_NONE;

	while (i != RANGE_NONE && range_at(ranges, stride, i)->end <= addr)
		i = range_at(ranges, stride, i)->outer;
	return i;
}

void ranges_gap(const void *ranges, uint32_t n, size_t stride, uint64_t addr,
		uint64_t *start, uint64_t *end)
{
	uint32_t below =
		search_while(k, n, range_at(ranges, stride, k)->start <= addr);
	uint32_t i = below ? below - 1 : RANGE_NONE;

	if (below < n && range_at(ranges, stride, below)->start < *end)
		*end = range_at(ranges, stride, below)->start;
	for (; i != RANGE_NONE; i = range_at(ranges, stride, i)->outer)
		if (range_at(ranges, stride, i)->end > *start)
			*start = range_at(ranges, stride, i)->end;
}
