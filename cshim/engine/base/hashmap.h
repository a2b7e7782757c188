/* SPDX-License-Identifier: MIT
 *
 * A map from addresses to numbers.
 */
#ifndef ENGINE_HASHMAP_H
#define ENGINE_HASHMAP_H

#include <stdint.h>

struct hashmap_slot {
	uint64_t addr; /* 0: free */
	uint32_t value;
};

struct hashmap {
	struct hashmap_slot *slots;
	uint32_t n, cap; /* cap: a power of two */
};

void hashmap_release(struct hashmap *m);
/* The value stored under addr (not 0), or NULL. */
uint32_t *hashmap_get(const struct hashmap *m, uint64_t addr);
/* Negative: no memory. */
int hashmap_put(struct hashmap *m, uint64_t addr, uint32_t value);
/* Drop all addresses in [start, end). */
void hashmap_drop(struct hashmap *m, uint64_t start, uint64_t end);

#endif
