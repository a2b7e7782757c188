/* SPDX-License-Identifier: MIT
 *
 * Numbers pairs of numbers by an array in order of first use and a hash table
 * of indexes into it.
 */
#include "base/pairs.h"
#include "base/error.h"

#include <stdlib.h>

void pairs_release(struct pairs *p)
{
	free(p->all);
	free(p->slots);
	*p = (struct pairs){0};
}

/* The pair's slot, or the empty one where it belongs. */
static uint32_t *find_slot(const struct pairs *p, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t mask = p->n_slots - 1;
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;

	for (;; i = (i + 1) & mask) {
		uint32_t v = p->slots[i];

		if (!v || (p->all[v - 1].a == a && p->all[v - 1].b == b))
			return &p->slots[i];
	}
}

/* Half of the slots at most are used. */
static int pairs_grow(struct pairs *p)
{
	uint32_t cap = p->cap ? p->cap * 2 : 256;
	struct pair *all = realloc(p->all, cap * sizeof(*all));
	uint32_t *slots;

	if (!all)
		return CST_MEMORY;
	p->all = all;
	slots = calloc(cap * 2ull, sizeof(*slots));
	if (!slots)
		return CST_MEMORY;
	free(p->slots);
	p->slots = slots;
	p->n_slots = cap * 2;
	p->cap = cap;
	for (uint32_t i = 0; i < p->n; i++)
		*find_slot(p, all[i].a, all[i].b) = i + 1;
	return 0;
}

uint32_t pairs_number(struct pairs *p, uint32_t a, uint32_t b, uint32_t most)
{
	uint32_t *slot = p->n_slots ? find_slot(p, a, b) : NULL;

	if (slot && *slot)
		return *slot - 1;
	if (p->n >= most)
		return NO_PAIR;
	if (p->n == p->cap) {
		if (pairs_grow(p) < 0)
			return NO_PAIR;
		slot = find_slot(p, a, b);
	}
	p->all[p->n] = (struct pair){a, b};
	*slot = ++p->n;
	return p->n - 1;
}
