/* SPDX-License-Identifier: MIT
 *
 * Keeps for each name, by its interned address, how the functions that have it
 * differ.
 */
#include "names/twins.h"
#include "base/array.h"

#include <stdlib.h>

void twins_release(struct twins *t)
{
	if (!t)
		return;
	free(t->all);
	hashmap_release(&t->by_name);
}

/* NULL: no function has the name. */
static struct twin *find(const struct twins *t, const char *name)
{
	const uint32_t *at = hashmap_get(&t->by_name, (uintptr_t)name);

	return at ? &t->all[*at] : NULL;
}

/* NULL: out of memory, as when the name was made. */
static struct twin *add(struct twins *t, const char *name)
{
	if (!name || array_room(&t->all, &t->cap, t->n + 1ull) < 0 ||
	    hashmap_put(&t->by_name, (uintptr_t)name, t->n) < 0)
		return NULL;
	return &t->all[t->n++];
}

/* Is b another text than the first one that was passed? */
static int differs(const char **first, const char *b)
{
	if (!*first)
		*first = b;
	return b && *first != b;
}

void twins_add(struct twins *t, const char *name, const struct called *called)
{
	struct twin *twin = find(t, name);

	if (!twin)
		twin = add(t, name);
	if (!twin)
		return;
	twin->variants |= called->variant;
	if (differs(&twin->signature, called->signature))
		twin->shared |= SHARED_BY_OVERLOADS;
	if (differs(&twin->qualified, called->qualified))
		twin->shared |= SHARED_BY_NAMESPACES;
	if (differs(&twin->full, called->full))
		twin->shared |= SHARED_BY_INSTANCES;
}

uint8_t twins_shared(const struct twins *t, const char *name)
{
	const struct twin *twin = find(t, name);

	return twin ? twin->shared : SHARED_NOT;
}

uint8_t twins_variants(const struct twins *t, const char *name)
{
	const struct twin *twin = find(t, name);

	return twin ? twin->variants : 0;
}
