/* SPDX-License-Identifier: MIT
 *
 * The only place where arrays of items grow.
 */
#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 16 };

int array_grow(void *array, uint32_t *cap, uint64_t n, size_t size)
{
	uint64_t more = *cap * 2ull > FEWEST ? *cap * 2ull : FEWEST;
	char *p, *q;

	if (more < n)
		more = n;
	if (more > UINT32_MAX)
		more = UINT32_MAX;
	if (more < n || more > SIZE_MAX / size)
		return CST_MEMORY;
	memcpy(&p, array, sizeof(p));
	q = realloc(p, more * size);
	if (!q)
		return CST_MEMORY;
	memset(q + *cap * size, 0, (more - *cap) * size);
	memcpy(array, &q, sizeof(q));
	*cap = (uint32_t)more;
	/* cppcheck-suppress memleak ; it is the array now */
	return 0;
}
