/* SPDX-License-Identifier: MIT
 *
 * Making sites and growing their index, under the lock.  A table that was
 * outgrown is never unmapped: a hook may be looking at it.
 */
#include "core/site.h"
#include "core/area.h"
#include "core/edge.h"
#include "core/mappings.h"
#include "core/signals.h"
#include "kernel/lock.h"
#include "kernel/syscall.h"

/* Two free slots: what a hook finds before the first site. */
static const uint32_t no_slots[2]
	__attribute__((aligned(SITE_TABLE_ALIGN))) = {0, 0};
enum { NO_SLOTS_SHIFT = 63, FIRST_SHIFT = 64 - 10, OWN_TABLES = 3 << 22 };

struct site_index site_index;
static uint32_t n_entries; /* in the table */
static uint64_t reserved_page;

static uint64_t table_slots(uint64_t table)
{
	return 1ull << (64 - (table & 63));
}

/* Tables for 65,536 sites come from memory of our own: a sandbox may let the
 * program map no more. */
static uint64_t table_new(uint64_t size)
{
	static uint8_t own[OWN_TABLES] __attribute__((aligned(4096)));
	static uint64_t n_used;
	long got;

	if (size <= sizeof(own) - n_used) {
		got = (long)(own + n_used);
		n_used += size;
	} else {
		got = sys_mmap(0, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	}
	return got < 0 ? 0 : (uint64_t)got;
}

static void table_put(uint64_t table, const struct site_key *k, uint32_t n)
{
	uint32_t *slots = (uint32_t *)site_table_slots(table);
	uint64_t first = site_hash(k) >> (table & 63), i = first;

	for (uint64_t passed = 1; slots[i]; passed++)
		i = site_slot(first, passed, table_slots(table) - 1);
	/* Pairs with the acquire in site_find(). */
	__atomic_store_n(&slots[i], n, __ATOMIC_RELEASE);
}

static struct site_key key_of(uint32_t number)
{
	const struct cst_site *s = &site_index.sites[number];

	return (struct site_key){s->callee, s->caller, s->hook};
}

static int is_within(const struct site_key *k, uint64_t start, uint64_t end)
{
	return (k->callee >= start && k->callee < end) ||
	       (k->caller >= start && k->caller < end) ||
	       (k->hook >= start && k->hook < end);
}

/* Puts all sites into a new table, unless there is no memory. */
static void edges_grow(uint64_t size)
{
	uint64_t table = site_index.table, memory = table_new(size);
	const uint32_t *slots = site_table_slots(table);

	if (!memory)
		return;
	edge_table_begin((void *)memory, size);
	for (uint64_t i = 0; i < table_slots(table); i++) {
		struct site_key k = key_of(slots[i]);

		if (slots[i])
			edge_put(&k, slots[i]);
	}
}

/* Put a new table in place, without what lies in [start, end).  0 or -1. */
static int table_rebuild(uint64_t shift, uint64_t start, uint64_t end)
{
	uint64_t old = site_index.table;
	uint64_t table = table_new(sizeof(uint32_t) << (64 - shift));
	const uint32_t *slots = site_table_slots(old);
	uint32_t n_kept = 0;

	if (!table)
		return -1;
	table |= shift;
	for (uint64_t i = 0; i < table_slots(old); i++) {
		struct site_key k;

		if (!slots[i])
			continue;
		k = key_of(slots[i]);
		if (is_within(&k, start, end))
			continue;
		table_put(table, &k, slots[i]);
		n_kept++;
	}
	n_entries = n_kept;
	__atomic_store_n(&site_index.table, table, __ATOMIC_RELEASE);
	return 0;
}

/* Room for one more at a load of at most an eighth: a site that is not in the
 * slot where it is looked for first takes a longer way. */
static int table_room(void)
{
	uint64_t table = site_index.table, shift = table & 63;

	if (shift == NO_SLOTS_SHIFT) /* not to be written */
		return table_rebuild(FIRST_SHIFT, 0, 0);
	if ((n_entries + 1) * 8ull <= table_slots(table))
		return 0;
	return table_rebuild(shift - 1, 0, 0);
}

/* A number whose entry can be written, or -1. */
static int64_t site_draw(void)
{
	int64_t n = area_draw(&area->n_sites, CST_FIRST_SITE, CST_MAX_SITES);
	uint64_t page;

	if (n < 0)
		return n;
	if (!area_has_site((uint32_t)n))
		return -1;
	page = (uint64_t)&site_index.sites[n] & -4096ull;
	if (page != reserved_page &&
	    area_reserve(&site_index.sites[n], sizeof(struct cst_site)))
		return -1;
	reserved_page = page;
	return n;
}

static uint32_t site_add(const struct site_key *k, enum cst_kind kind)
{
	struct cst_site *s;
	int64_t n;

	mappings_cover(kind < CST_SPAN ? *k
				       : (struct site_key){k->caller, k->caller,
							   k->caller});
	if (table_room() < 0)
		return 0;
	n = site_draw();
	if (n < 0)
		return 0;
	s = &site_index.sites[n];
	s->callee = k->callee;
	s->caller = k->caller;
	s->hook = k->hook;
	s->process = (uint16_t)(state_page.process - 1);
	/* Until the reader has looked at it, so that no thread passes over
	 * another one that waits for that (copy.h). */
	if (kind <= CST_EXIT &&
	    __atomic_load_n(&area->wants_values, __ATOMIC_RELAXED)) {
		__atomic_store_n(&area->has_verdicts, 1, __ATOMIC_RELAXED);
		s->verdict = CST_COPIED;
	}
	/* Pairs with the reader's acquire: a site with a kind is complete. */
	__atomic_store_n(&s->kind, (uint16_t)kind, __ATOMIC_RELEASE);
	table_put(site_index.table, k, (uint32_t)n);
	n_entries++;
	if (k->hook > CST_PATCHED_LAST)
		return (uint32_t)n;
	if (edge_table_wanted())
		edges_grow(edge_table_wanted());
	edge_put(k, (uint32_t)n);
	return (uint32_t)n;
}

static int site_table_is_full(void)
{
	return __atomic_load_n(&area->n_sites, __ATOMIC_RELAXED) >=
	       CST_MAX_SITES;
}

COLD uint32_t site_intern(const struct site_key *k, enum cst_kind kind)
{
	uint32_t number = site_find(k);
	uint64_t mask;

	if (number)
		return number;
	if (site_table_is_full()) {
		area_count(&area->n_lost_sites);
		return 0;
	}
	mask = signals_block();
	lock_take();
	number = site_find(k);
	if (!number)
		number = site_add(k, kind);
	lock_drop();
	signals_restore(mask);
	if (!number)
		area_count(&area->n_lost_sites);
	return number;
}

void site_table_attach(struct cst_site *sites, const uint32_t *has_verdicts)
{
	site_index.sites = sites;
	site_index.has_verdicts = has_verdicts;
	site_index.table = (uint64_t)no_slots | NO_SLOTS_SHIFT;
}

void site_table_forget(void)
{
	edge_drop(0, UINT64_MAX);
	site_index = (struct site_index){0};
	n_entries = 0;
	reserved_page = 0;
}

void site_table_retire(uint64_t start, uint64_t end)
{
	uint64_t table = site_index.table;

	if (!table || (table & 63) == NO_SLOTS_SHIFT)
		return;
	edge_drop(start, end);
	/* No memory for a table without them: an empty one needs none. */
	if (table_rebuild(table & 63, start, end) < 0) {
		n_entries = 0;
		__atomic_store_n(&site_index.table,
				 (uint64_t)no_slots | NO_SLOTS_SHIFT,
				 __ATOMIC_RELEASE);
	}
}
