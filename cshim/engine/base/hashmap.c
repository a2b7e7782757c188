/* SPDX-License-Identifier: MIT */
#include "base/hashmap.h"

#include <stdlib.h>

static struct addrmap_slot *addrmap_slot(const struct addrmap *m, uint64_t addr)
{
	uint32_t i = (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 32);

	for (i &= m->cap - 1; m->slots[i].addr; i = (i + 1) & (m->cap - 1)) {
		if (m->slots[i].addr == addr)
			break;
	}
	return &m->slots[i];
}

void addrmap_release(struct addrmap *m)
{
	free(m->slots);
	*m = (struct addrmap){0};
}

uint32_t *addrmap_get(const struct addrmap *m, uint64_t addr)
{
	struct addrmap_slot *slot;

	if (!m->n)
		return NULL;
	slot = addrmap_slot(m, addr);
	return slot->addr ? &slot->value : NULL;
}

/* Move what lies outside [start, end) into a table of this capacity. */
static int addrmap_rebuild(struct addrmap *m, uint32_t cap, uint64_t start,
			   uint64_t end)
{
	struct addrmap fresh = {.cap = cap};

	fresh.slots = calloc(cap, sizeof(*fresh.slots));
	if (!fresh.slots)
		return -1;
	for (uint32_t i = 0; i < m->cap; i++) {
		const struct addrmap_slot *s = &m->slots[i];

		if (!s->addr || (s->addr >= start && s->addr < end))
			continue;
		*addrmap_slot(&fresh, s->addr) = *s;
		fresh.n++;
	}
	free(m->slots);
	*m = fresh;
	return 0;
}

int addrmap_put(struct addrmap *m, uint64_t addr, uint32_t value)
{
	struct addrmap_slot *slot;

	if (2 * m->n >= m->cap &&
	    addrmap_rebuild(m, m->cap ? 2 * m->cap : 256, 0, 0) < 0)
		return -1;
	slot = addrmap_slot(m, addr);
	m->n += !slot->addr;
	*slot = (struct addrmap_slot){.addr = addr, .value = value};
	return 0;
}

void addrmap_drop(struct addrmap *m, uint64_t start, uint64_t end)
{
	if (m->n)
		addrmap_rebuild(m, m->cap, start, end);
}
