/* SPDX-License-Identifier: MIT
 *
 * Address ranges, sorted, and the search for the innermost that contains an
 * address.  A range is the first member of whatever it belongs to; stride is
 * the size of that whole.
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

/* Order by start, the larger one first at an equal start, then link. */
void ranges_sort(void *ranges, uint32_t n, size_t stride);

/* For what is sorted by start already: at an equal start the later one is
 * taken for the inner. */
void ranges_link(void *ranges, uint32_t n, size_t stride);

/* The index of the innermost range that contains addr, or RANGE_NONE. */
uint32_t ranges_find(const void *ranges, uint32_t n, size_t stride,
		     uint64_t addr);

/* Make room for one more in a growing array of elements of this size, zeroed
 * beyond n.  0 where there is none. */
int ranges_room(void **array, uint32_t n, uint32_t *capacity, size_t stride);

#endif
