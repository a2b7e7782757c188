/* SPDX-License-Identifier: MIT
 *
 * Stores each shape of a subtree once, found again by a hash of its function,
 * its end and its runs.
 */
#include "golden/subtrees.h"
#include "base/array.h"

#include <stdlib.h>

void subtrees_release(struct subtrees *s)
{
	free(s->all);
	free(s->runs);
	hashmap_release(&s->by_hash);
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

uint32_t subtrees_add(struct subtrees *s, const struct shape *like,
		      const struct shape_run *runs)
{
	uint64_t hash = hash_of(like, runs) | 1; /* never 0 */
	const uint32_t *known;
	struct shape *shape;

	for (; (known = hashmap_get(&s->by_hash, hash)); hash += 2)
		if (is_like(s, &s->all[*known], like, runs))
			return *known;
	if (array_room(&s->all, &s->cap, s->n + 1ull) < 0 ||
	    array_room(&s->runs, &s->cap_runs,
		       s->n_runs + (uint64_t)like->n_runs) < 0 ||
	    hashmap_put(&s->by_hash, hash, s->n) < 0)
		return SHAPE_NONE;
	shape = &s->all[s->n];
	*shape = *like;
	shape->first_run = s->n_runs;
	for (uint32_t i = 0; i < like->n_runs; i++)
		s->runs[s->n_runs++] = runs[i];
	return s->n++;
}
