/* SPDX-License-Identifier: MIT
 *
 * The sites of patched functions once more, where the code of
 * kernel/x86_64_patch.h finds them: in an open-addressing hash of the edges of
 * the call graph.  A call's entry and its end read one edge, and nothing that
 * lies elsewhere.  A site that has no room here is in the index of all sites
 * only, and takes the longer way.
 */
#ifndef SHIM_EDGE_H
#define SHIM_EDGE_H

#include "core/site.h"

enum edge_column { EDGE_ENTRY, EDGE_END, EDGE_COLUMNS };

/* From a return address, `caller`, to a function.  A tag is eight times the
 * function, and the low three bits of the hook that the column's site has; 0:
 * there is none. */
struct edge {
	uint64_t tags[EDGE_COLUMNS];
	uint64_t caller;
	uint32_t sites[EDGE_COLUMNS]; /* numbers, or 0 */
};

/* An edge is where its caller alone leads to, eight bytes of the table for each
 * byte of code: so the address is known soon, and what is called from one place
 * lies in one place.  Or, as callers of several functions are, where a hash
 * leads to, shifted by this.  Or in a neighbour of these: in EDGE_NEAR or
 * EDGE_FAR edges in all. */
#define EDGE_SHIFT 32
enum { EDGE_NEAR = 2, EDGE_FAR = 4 };
struct edge_table {
	uint64_t mask; /* of an edge's offset */
	struct edge *edges;
} __attribute__((aligned(16)));

extern HIDDEN struct edge_table edge_table;

/* Returns the bytes of the larger table that one more edge needs, or 0.  The
 * caller of these holds the lock. */
uint64_t edge_table_wanted(void);
/* Begins a table with no edges, in memory of so many bytes at an address that
 * is a multiple of 128, full of zeros. */
void edge_table_begin(void *memory, uint64_t size);
/* Puts a site, if it is one of a patched function, where it has room. */
void edge_put(const struct site_key *k, uint32_t site);
/* Drops the sites with an address in [start, end). */
void edge_drop(uint64_t start, uint64_t end);

#endif
