/* SPDX-License-Identifier: MIT
 *
 * Finds the pairs that begins and ends of asynchronous spans make.
 */
#include "names/async_spans.h"
#include "base/array.h"
#include "base/error.h"
#include "names/values.h"

#include <stdlib.h>

struct async_begin {
	uint64_t what;
	uint32_t below; /* 1 + the begin that was open under its key, or 0 */
};

uint64_t async_spans_key(uint32_t process, const struct function *f,
			 const void *values, uint32_t n)
{
	struct value_list l = value_list(values, n, NULL);
	uint64_t hash = process + 1ull;
	struct value id;

	if (!value_next(&l, &id))
		return 0;
	for (const char *name = names_bare(f); *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
	hash = (hash ^ id.u) * 0x9e3779b97f4a7c15ull;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

int async_spans_begin(struct async_spans *a, uint64_t key, uint64_t what)
{
	const uint32_t *newest = hashmap_get(&a->newest, key);

	if (array_room(&a->all, &a->cap, a->n + 1ull) < 0)
		return CST_MEMORY;
	a->all[a->n++] = (struct async_begin){.what = what,
					      .below = newest ? *newest : 0};
	return hashmap_put(&a->newest, key, a->n);
}

int async_spans_end(struct async_spans *a, uint64_t key, uint64_t *what)
{
	uint32_t *newest = hashmap_get(&a->newest, key);
	const struct async_begin *begin;

	if (!newest || !*newest)
		return 0;
	begin = &a->all[*newest - 1];
	*what = begin->what;
	*newest = begin->below;
	return 1;
}

void async_spans_release(struct async_spans *a)
{
	free(a->all);
	hashmap_release(&a->newest);
	*a = (struct async_spans){0};
}
