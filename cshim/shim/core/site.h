/* SPDX-License-Identifier: MIT
 *
 * The process's own index of its sites: an open-addressing hash of site
 * numbers.  The keys are compared in the area's site table itself, for the
 * verdict lies on the same cache line.
 */
#ifndef SHIM_SITE_H
#define SHIM_SITE_H

#include "kernel/state.h"

/* The two arguments of a hook, and where it was called from. */
struct site_key {
	uint64_t callee, caller, hook;
};

/* Each hook reads these, so they share a line.  `table` is the address of an
 * array of 2^n numbers (0: free) with 64 - n in its low six bits, so that one
 * load gets both: a shift takes the low six bits of its count only. */
struct site_index {
	uint64_t table;
	struct cst_site *sites; /* in the area */
	/* In the area: does any site have a verdict but CST_RECORDED? */
	const uint32_t *has_verdicts;
} __attribute__((aligned(64)));

extern HIDDEN struct site_index site_index;

enum { SITE_TABLE_ALIGN = 64 };

static inline const uint32_t *site_table_slots(uint64_t table)
{
	return (const uint32_t *)(table & -(uint64_t)SITE_TABLE_ALIGN);
}

#define SITE_HASH_CALLEE 0x9e3779b97f4a7c15
#define SITE_HASH_CALLER 0xc2b2ae3d27d4eb4f
#define SITE_HASH_HOOK 0xd6e8feb86659fd93

static inline uint64_t edge_hash(uint64_t callee, uint64_t caller)
{
	return callee * SITE_HASH_CALLEE + caller * SITE_HASH_CALLER;
}

/* The top bits of a sum of products are good; the three multiplications do
 * not wait for each other. */
static inline uint64_t site_hash(const struct site_key *k)
{
	return edge_hash(k->callee, k->caller) + k->hook * SITE_HASH_HOOK;
}

static inline int site_is(const struct cst_site *s, const struct site_key *k)
{
	return s->hook == k->hook && s->callee == k->callee &&
	       s->caller == k->caller;
}

/* The slot in which a key's number is looked for first. */
struct site_probe {
	const uint32_t *slots;
	uint64_t i, mask;
};

static inline struct site_probe site_probe(const struct site_key *k)
{
	/* Pairs with the releases in site.c: a thread that sees a table sees
	 * its slots, and one that sees a number in a slot sees the complete
	 * site. */
	uint64_t table = __atomic_load_n(&site_index.table, __ATOMIC_ACQUIRE);

	return (struct site_probe){site_table_slots(table),
				   site_hash(k) >> (table & 63),
				   ~0ull >> (table & 63)};
}

static inline uint32_t site_probe_load(const struct site_probe *p)
{
	return __atomic_load_n(&p->slots[p->i], __ATOMIC_ACQUIRE);
}

/* Returns the slot that comes n behind the first one, i: next is its neighbour,
 * so that both are in one cache line, then the pairs behind them. */
static inline uint64_t site_slot(uint64_t i, uint64_t n, uint64_t mask)
{
	return (n < 2 ? i ^ n : (i | 1) + n - 1) & mask;
}

/* Returns the site's number, or 0 if it is not known yet. */
static inline uint32_t site_find(const struct site_key *k)
{
	struct site_probe p = site_probe(k);
	uint64_t first = p.i;

	for (uint64_t passed = 1;; passed++) {
		uint32_t n = site_probe_load(&p);

		if (!n || site_is(&site_index.sites[n], k))
			return n;
		p.i = site_slot(first, passed, p.mask);
	}
}

/* Looks into the first slot only.  Returns 1, with the site's number in
 * *number, or 0 if the site is in another slot, or not known.  An empty slot
 * gives site 0, whose hook is no return address. */
static inline int site_find_at_once(const struct site_probe *p,
				    const struct site_key *k, uint32_t *number)
{
	*number = site_probe_load(p);
	return site_is(&site_index.sites[*number], k);
}

/* Has any site a verdict but CST_RECORDED? */
static inline int site_has_verdicts(void)
{
	return __atomic_load_n(site_index.has_verdicts, __ATOMIC_RELAXED) != 0;
}

/* Returns what the reader wants of the site (enum cst_verdict). */
static inline uint8_t site_verdict(uint32_t number)
{
	return __atomic_load_n(&site_index.sites[number].verdict,
			       __ATOMIC_RELAXED);
}

/* Returns whether the reader wants no records of the site. */
static inline int site_is_muted(uint32_t number)
{
	return site_verdict(number) == CST_MUTED;
}

/* Returns the site's number, after adding it if it is new.  Returns 0, and
 * counts the loss, if that cannot be done.  Async-signal-safe. */
uint32_t site_intern(const struct site_key *k, enum cst_kind kind);

/* Makes `sites`, the area's table, the one that keys are compared in. */
void site_table_attach(struct cst_site *sites, const uint32_t *has_verdicts);
/* Forgets all sites, whose area is unmapped. */
void site_table_forget(void);

/* Drops the sites with an address in [start, end). The caller holds the
 * lock. */
void site_table_retire(uint64_t start, uint64_t end);

#endif
