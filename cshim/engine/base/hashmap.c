/* SPDX-License-Identifier: MIT
 *
 * A hash table with open addressing, at most half full; addresses are removed
 * by building the table anew.
 */
#include "base/hashmap.h"
#include "base/error.h"

#include <stdlib.h>

static struct hashmap_slot *hashmap_slot(const struct hashmap *m, uint64_t addr)
{
	uint32_t i = (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 32);

	for (i &= m->cap - 1; m->slots[i].addr; i = (i + 1) & (m->cap - 1)) {
		if (m->slots[i].addr == addr)
			break;
	}
	return &m->slots[i];
}

void hashmap_release(struct hashmap *m)
{
	free(m->slots);
	*m = (struct hashmap){0};
}

uint32_t *hashmap_get(const struct hashmap *m, uint64_t addr)
{
	struct hashmap_slot *slot;

	if (!m->n)
		return NULL;
	slot = hashmap_slot(m, addr);
	return slot->addr ? &slot->value : NULL;
}

/* Move what lies outside [start, end) into a table of this capacity. */
static int hashmap_rebuild(struct hashmap *m, uint32_t cap, uint64_t start,
			   uint64_t end)
{
	struct hashmap fresh = {.cap = cap};

	fresh.slots = calloc(cap, sizeof(*fresh.slots));
	if (!fresh.slots)
		return CST_MEMORY;
	for (uint32_t i = 0; i < m->cap; i++) {
		const struct hashmap_slot *s = &m->slots[i];

		if (!s->addr || (s->addr >= start && s->addr < end))
			continue;
		*hashmap_slot(&fresh, s->addr) = *s;
		fresh.n++;
	}
	free(m->slots);
	*m = fresh;
	return 0;
}

int hashmap_put(struct hashmap *m, uint64_t addr, uint32_t value)
{
	struct hashmap_slot *slot;

	if (2 * m->n >= m->cap &&
	    hashmap_rebuild(m, m->cap ? 2 * m->cap : 256, 0, 0) < 0)
		return CST_MEMORY;
	slot = hashmap_slot(m, addr);
	m->n += !slot->addr;
	*slot = (struct hashmap_slot){.addr = addr, .value = value};
	return 0;
}

void hashmap_drop(struct hashmap *m, uint64_t start, uint64_t end)
{
	if (m->n)
		hashmap_rebuild(m, m->cap, start, end);
}
