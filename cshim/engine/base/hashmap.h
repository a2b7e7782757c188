/* SPDX-License-Identifier: MIT
 *
 * A map from addresses (64 bits, not 0) to numbers (32 bits). A zeroed struct
 * hashmap is an empty one.
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

/* Frees the slots and zeroes m. */
void hashmap_release(struct hashmap *m);
/* Returns where the value of addr (not 0) is stored, or NULL if addr is not in
 * the map.  The pointer is valid until the next hashmap_put() or
 * hashmap_drop(). */
uint32_t *hashmap_get(const struct hashmap *m, uint64_t addr);
/* Stores value under addr (not 0), in place of an older value.  Returns 0, or
 * CST_MEMORY. */
int hashmap_put(struct hashmap *m, uint64_t addr, uint32_t value);
/* Removes all addresses in [start, end). */
void hashmap_drop(struct hashmap *m, uint64_t start, uint64_t end);

#endif
