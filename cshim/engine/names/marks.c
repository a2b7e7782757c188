/* SPDX-License-Identifier: MIT
 *
 * A table by the parts of the calls' IDs.
 */
#include "names/marks.h"
#include "base/hashmap.h"

#include <stdlib.h>

struct marks {
	struct hashmap by_call;
};

/* One thread has no more calls than have room in 32 bits. */
static uint64_t key_of(uint32_t process, uint32_t thread, uint64_t number)
{
	return ((uint64_t)process << 48 | (uint64_t)thread << 32) ^ number;
}

int marks_set(struct names *n, uint32_t process, uint32_t thread,
	      uint64_t number, uint32_t color)
{
	if (!n->marks)
		n->marks = calloc(1, sizeof(*n->marks));
	return n->marks ? hashmap_put(&n->marks->by_call,
				      key_of(process, thread, number), color)
			: CST_MEMORY;
}

uint32_t marks_find(const struct names *n, uint32_t process, uint32_t thread,
		    uint64_t number)
{
	const uint32_t *color = hashmap_get(&n->marks->by_call,
					    key_of(process, thread, number));

	return color ? *color : 0;
}

int marks_copy(struct names *to, const struct names *from)
{
	const struct hashmap *all = from->marks ? &from->marks->by_call : NULL;
	int status = 0;

	if (all && !(to->marks = calloc(1, sizeof(*to->marks))))
		return CST_MEMORY;
	for (uint32_t i = 0; all && i < all->cap && status == 0; i++)
		if (all->slots[i].addr)
			status = hashmap_put(&to->marks->by_call,
					     all->slots[i].addr,
					     all->slots[i].value);
	return status;
}

void marks_clear(struct names *n)
{
	marks_free(n->marks);
	n->marks = NULL;
}

void marks_free(struct marks *m)
{
	if (m)
		hashmap_release(&m->by_call);
	free(m);
}
