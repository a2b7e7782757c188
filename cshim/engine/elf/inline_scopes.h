/* SPDX-License-Identifier: MIT
 *
 * The inlined calls that code lies in (scopes), numbered from 1.
 */
#ifndef ENGINE_INLINE_SCOPES_H
#define ENGINE_INLINE_SCOPES_H

#include "base/hashmap.h"
#include "elf/modules.h"

struct scope {
	uint64_t origin; /* the function that it is an instance of */
	uint32_t parent; /* the scope that it is in, or 0 */
};

struct scopes {
	struct hashmap numbers;
	struct scope *table; /* from 1 */
	uint32_t n, cap;
};

/* Frees the memory of s. */
void scopes_release(struct scopes *s);

/* Returns the number of the innermost of the call's scopes, or 0 if it has none
 * or memory ran out. */
uint32_t scopes_innermost(struct scopes *s, const struct inline_call *call);

/* Returns whether the inlined call `inner` is inlined, directly or not, into
 * `outer`. */
int scopes_is_inside(const struct scopes *s, uint32_t inner, uint32_t outer);

/* Returns the scope around `inner` that is of one function with `outer` and
 * inlined at one place with it, or 0: compilers merge what several inlined
 * calls have in common. */
uint32_t scopes_twin(const struct scopes *s, uint32_t inner, uint32_t outer);

#endif
