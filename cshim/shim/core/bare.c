/* SPDX-License-Identifier: MIT
 *
 * Written where the object's code cannot run: before its first call, and behind
 * its last one.
 */
#include "core/bare.h"
#include "cstrace/control.h"

static struct {
	uint64_t start, size;
} objects[CST_MAX_PATCHED];
static uint32_t n_objects; /* places up to the last that was used */

void bare_set(uint64_t place, uint64_t start, uint64_t size)
{
	objects[place].size = 0;
	__atomic_store_n(&objects[place].start, start, __ATOMIC_RELEASE);
	__atomic_store_n(&objects[place].size, size, __ATOMIC_RELEASE);
	if (size && place >= n_objects)
		__atomic_store_n(&n_objects, (uint32_t)place + 1,
				 __ATOMIC_RELEASE);
}

int bare_has(uint64_t function)
{
	uint32_t n = __atomic_load_n(&n_objects, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t size =
			__atomic_load_n(&objects[i].size, __ATOMIC_ACQUIRE);

		if (function - objects[i].start < size)
			return 1;
	}
	return 0;
}
