/* SPDX-License-Identifier: MIT
 *
 * Address ranges, sorted, and the search for the innermost that contains an
 * address.  A struct range is the first member of the element that it
 * describes; n elements lie in an array, and stride is the size of one.
 */
#ifndef ENGINE_RANGES_H
#define ENGINE_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum { RANGE_NONE = UINT32_MAX };

struct range {
	uint64_t start, end; /* end is the first address behind it */
	uint32_t outer;	     /* set by ranges_link() */
	uint32_t value;	     /* the owner's */
};

/* Sorts the elements by start, the larger one first at an equal start, then
 * links them as ranges_link() does. */
void ranges_sort(void *ranges, uint32_t n, size_t stride);

/* Sets `outer` of each range, which ranges_find() needs, for elements that are
 * sorted by start already.  At an equal start the later one counts as the
 * inner. */
void ranges_link(void *ranges, uint32_t n, size_t stride);

/* Returns the index of the innermost range that contains addr, or
 * RANGE_NONE. */
uint32_t ranges_find(const void *ranges, uint32_t n, size_t stride,
		     uint64_t addr);

/* Cuts *start to *end, which contains addr, to those around it that are in no
 * range, as addr is. */
void ranges_gap(const void *ranges, uint32_t n, size_t stride, uint64_t addr,
		uint64_t *start, uint64_t *end);

#endif
