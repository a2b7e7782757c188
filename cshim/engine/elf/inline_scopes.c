/* SPDX-License-Identifier: MIT
 *
 * Numbers the inlined calls that code lies in, so that two of them can be
 * compared by number, and knows which one is inside which.
 */
#include "elf/inline_scopes.h"
#include "base/array.h"

#include <stdlib.h>

void scopes_release(struct scopes *s)
{
	hashmap_release(&s->numbers);
	free(s->table);
	*s = (struct scopes){0};
}

/* The number of a scope; 0: no memory. */
static uint32_t scope_number(struct scopes *s, uint64_t id,
			     const struct scope *scope)
{
	uint32_t *known = hashmap_get(&s->numbers, id);
	uint32_t n = s->n + 1;

	if (known)
		return *known;
	if (array_room(&s->table, &s->cap, n + 1ull) < 0 ||
	    hashmap_put(&s->numbers, id, n) < 0)
		return 0;
	s->table[n] = *scope;
	return s->n = n;
}

uint32_t scopes_innermost(struct scopes *s, const struct inline_call *call)
{
	uint32_t scope = 0;

	for (int i = 0; i < call->n_scopes; i++)
		scope = scope_number(s, call->scopes[i],
				     &(struct scope){call->origins[i], scope});
	return scope;
}

int scopes_is_inside(const struct scopes *s, uint32_t inner, uint32_t outer)
{
	while (inner && inner != outer)
		inner = s->table[inner].parent;
	return inner != 0;
}

static int is_twin(const struct scope *table, uint32_t a, uint32_t b)
{
	while (a && b && a != b && table[a].origin == table[b].origin) {
		a = table[a].parent;
		b = table[b].parent;
	}
	return a == b;
}

uint32_t scopes_twin(const struct scopes *s, uint32_t inner, uint32_t outer)
{
	while (inner && (inner = s->table[inner].parent))
		if (is_twin(s->table, inner, outer))
			return inner;
	return 0;
}
