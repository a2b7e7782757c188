/* SPDX-License-Identifier: MIT
 *
 * Filling the table of edges, under the lock.  A table that was outgrown is
 * never unmapped: a patch's code may be looking at it.
 */
#include "core/edge.h"

#include <stddef.h>

/* At most one of LOAD edges is used, so that few are looked for at length. */
enum { FIRST_EDGES = 256, LOAD = 4, EDGE_BITS = 5 };
_Static_assert(sizeof(struct edge) == 1 << EDGE_BITS, "edges' table");

/* What is looked at before the first edge comes. */
static struct edge none[EDGE_FAR] __attribute__((aligned(128)));
struct edge_table edge_table = {0, none};

static uint64_t n_edges;

/* What an edge is put by: hook is the low three bits. */
struct edge_site {
	uint64_t callee, caller, hook;
	enum edge_column column;
	uint32_t site;
};

static uint64_t table_size(void)
{
	return (edge_table.mask >> EDGE_BITS) + 1;
}

/* Is it the site's edge, or a free one? */
static int suits(const struct edge *e, const struct edge_site *s)
{
	uint64_t own = e->tags[s->column], other = e->tags[!s->column];

	if (!own && !other)
		return 1;
	return e->caller == s->caller &&
	       (own ? own == (s->callee << 3 | s->hook)
		    : other >> 3 == s->callee);
}

static struct edge *look_at(uint64_t offset, uint64_t n,
			    const struct edge_site *s)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = (offset & edge_table.mask) ^ i << EDGE_BITS;
		struct edge *e =
			(struct edge *)((uint64_t)edge_table.edges + at);

		if (suits(e, s))
			return e;
	}
	return NULL;
}

/* Returns the site's edge, or a free one, or NULL. */
static struct edge *look(const struct edge_site *s)
{
	uint64_t hash = edge_hash(s->callee, s->caller);
	struct edge *e = look_at(s->caller << 3, EDGE_NEAR, s);

	return e ? e : look_at(hash >> EDGE_SHIFT, EDGE_FAR, s);
}

static void put(const struct edge_site *s)
{
	struct edge *e = look(s);

	if (!e)
		return;
	n_edges += !e->tags[EDGE_ENTRY] && !e->tags[EDGE_END];
	/* A thread that sees a tag sees the rest, and one that sees a number
	 * sees the complete site. */
	__atomic_store_n(&e->caller, s->caller, __ATOMIC_RELAXED);
	__atomic_store_n(&e->sites[s->column], s->site, __ATOMIC_RELEASE);
	__atomic_store_n(&e->tags[s->column], s->callee << 3 | s->hook,
			 __ATOMIC_RELEASE);
}

void edge_put(const struct site_key *k, uint32_t site)
{
	struct edge_site s = {k->callee, k->caller, k->hook & 7, EDGE_ENTRY,
			      site};

	switch (k->hook) {
	case CST_PATCHED_EXIT:
	case CST_PATCHED_TAIL:
	case CST_PATCHED_RETURN:
	case CST_PATCHED_FRAMED_EXIT:
	case CST_PATCHED_PASS:
		s.column = EDGE_END;
		break;
	case CST_PATCHED_ENTRY:
	case CST_PATCHED_FRAMED:
	case CST_PATCHED_BORDER:
	case CST_PATCHED_BEGUN:
	case CST_PATCHED_DEEP:
		break;
	default:
		return;
	}
	if (s.callee && edge_table.mask)
		put(&s);
}

uint64_t edge_table_wanted(void)
{
	if (!edge_table.mask)
		return FIRST_EDGES * sizeof(struct edge);
	return n_edges * LOAD < table_size()
		       ? 0
		       : 2 * table_size() * sizeof(struct edge);
}

void edge_table_begin(void *memory, uint64_t size)
{
	/* A thread that sees the larger mask sees the larger table. */
	__atomic_store_n(&edge_table.edges, (struct edge *)memory,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&edge_table.mask, size - sizeof(struct edge),
			 __ATOMIC_RELEASE);
	n_edges = 0;
}

static int is_within(uint64_t addr, uint64_t start, uint64_t end)
{
	return addr >= start && addr < end;
}

/* The edges stay, without numbers: what comes to the same addresses has them.
 */
void edge_drop(uint64_t start, uint64_t end)
{
	for (uint64_t i = 0; i < table_size(); i++) {
		struct edge *e = &edge_table.edges[i];

		if (!is_within(e->tags[EDGE_ENTRY] >> 3, start, end) &&
		    !is_within(e->tags[EDGE_END] >> 3, start, end) &&
		    !is_within(e->caller, start, end))
			continue;
		__atomic_store_n(&e->sites[EDGE_ENTRY], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&e->sites[EDGE_END], 0, __ATOMIC_RELAXED);
	}
}
