/* SPDX-License-Identifier: MIT
 *
 * A map from addresses to numbers.
 */
#ifndef ENGINE_HASHMAP_H
#define ENGINE_HASHMAP_H

#include <stdint.h>

struct addrmap_slot {
	uint64_t addr; /* 0: free */
	uint32_t value;
};

struct addrmap {
	struct addrmap_slot *slots;
	uint32_t n, cap; /* cap: a power of two */
};

void addrmap_release(struct addrmap *m);
/* The value stored under addr (not 0), or NULL. */
uint32_t *addrmap_get(const struct addrmap *m, uint64_t addr);
/* Negative: no memory. */
int addrmap_put(struct addrmap *m, uint64_t addr, uint32_t value);
/* Drop all addresses in [start, end). */
void addrmap_drop(struct addrmap *m, uint64_t start, uint64_t end);

#endif
