/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow: a pointer and how many items it has room for.
 */
#ifndef ENGINE_ARRAY_H
#define ENGINE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Makes room for n items in *array, which holds *cap of them (NULL and 0 at
 * first); the items that are new are 0.  Returns 0, or CST_MEMORY, and then
 * nothing has changed.  The caller frees *array. */
#define array_room(array, cap, n) \
	array_room_of((array), (cap), (n), sizeof(**(array)))

/* Grows to twice *cap or to n, whichever is more. */
int array_grow(void *array, uint32_t *cap, uint64_t n, size_t size);

static inline int array_room_of(void *array, uint32_t *cap, uint64_t n,
				size_t size)
{
	return __builtin_expect(n <= *cap, 1) ? 0
					      : array_grow(array, cap, n, size);
}

#endif
