/* SPDX-License-Identifier: MIT
 *
 * Stores each shape of a subtree once, found again by a hash of its function,
 * its end and its runs.
 */
#include "golden/subtrees.h"
#include "base/array.h"
#include "base/ranges.h"

#include <stdlib.h>

void subtrees_release(struct subtrees *s)
{
	free(s->all);
	free(s->runs);
	free(s->table);
	*s = (struct subtrees){0};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct shape *shape, const struct shape_run *runs)
{
	uint64_t hash = mix(shape->function, shape->end);

	for (uint32_t i = 0; i < shape->n_runs; i++)
		hash = mix(mix(hash, runs[i].shape), runs[i].n);
	return hash;
}

static int is_like(const struct subtrees *s, const struct shape *a,
		   const struct shape *b, const struct shape_run *runs)
{
	if (a->function != b->function || a->end != b->end ||
	    a->n_runs != b->n_runs)
		return 0;
	for (uint32_t i = 0; i < a->n_runs; i++) {
		const struct shape_run *run = &s->runs[a->first_run + i];

		if (run->shape != runs[i].shape || run->n != runs[i].n)
			return 0;
	}
	return 1;
}

/* Where it is in the table, or the free slot that it belongs into. */
static uint32_t *slot_of(struct subtrees *s, const struct shape *like,
			 const struct shape_run *runs)
{
	uint32_t i = (uint32_t)hash_of(like, runs) & (s->cap_table - 1);

	while (s->table[i] && !is_like(s, &s->all[s->table[i] - 1], like, runs))
		i = (i + 1) & (s->cap_table - 1);
	return &s->table[i];
}

static int table_grow(struct subtrees *s)
{
	uint32_t cap = s->cap_table ? 2 * s->cap_table : 1024;
	uint32_t *table = calloc(cap, sizeof(*table));

	if (!table)
		return 0;
	free(s->table);
	s->table = table;
	s->cap_table = cap;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct shape *shape = &s->all[i];

		*slot_of(s, shape, s->runs + shape->first_run) = i + 1;
	}
	return 1;
}

uint32_t subtrees_add(struct subtrees *s, const struct shape *like,
		      const struct shape_run *runs)
{
	struct shape *shape;
	uint32_t *slot;

	if (s->n >= s->cap_table / 2 && !table_grow(s))
		return SHAPE_NONE;
	slot = slot_of(s, like, runs);
	if (*slot)
		return *slot - 1;
	if (array_room(&s->all, &s->cap, s->n + 1ull) < 0)
		return SHAPE_NONE;
	shape = &s->all[s->n];
	*shape = *like;
	shape->first_run = s->n_runs;
	for (uint32_t i = 0; i < like->n_runs; i++) {
		if (array_room(&s->runs, &s->cap_runs, s->n_runs + 1ull) < 0)
			return SHAPE_NONE;
		s->runs[s->n_runs++] = runs[i];
	}
	*slot = ++s->n;
	return s->n - 1;
}
