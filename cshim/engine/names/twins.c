/* SPDX-License-Identifier: MIT
 *
 * Keeps for each name, by its interned address, how the functions that have it
 * differ.
 */
#include "names/twins.h"
#include "base/error.h"

#include <stdlib.h>

void twins_release(struct twins *t)
{
	if (t)
		free(t->all);
}

/* The name's slot, or the free one where it would be. */
static struct twin *find(const struct twins *t, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 32) & (t->cap - 1);

	while (t->all[at].name && t->all[at].name != name)
		at = (at + 1) & (t->cap - 1);
	return &t->all[at];
}

static int make_room(struct twins *t)
{
	struct twins larger = {.cap = t->cap ? t->cap * 2 : 64};

	if (t->n < t->cap / 2)
		return 0;
	larger.all = larger.cap > t->cap
			     ? calloc(larger.cap, sizeof(*larger.all))
			     : NULL;
	if (!larger.all)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->all[i].name)
			*find(&larger, t->all[i].name) = t->all[i];
	free(t->all);
	t->all = larger.all;
	t->cap = larger.cap;
	return 0;
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
	struct twin *twin;

	if (make_room(t) < 0)
		return;
	twin = find(t, name);
	t->n += !twin->name;
	twin->name = name;
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
	return t->n ? find(t, name)->shared : SHARED_NOT;
}

uint8_t twins_variants(const struct twins *t, const char *name)
{
	return t->n ? find(t, name)->variants : 0;
}
