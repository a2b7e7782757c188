/* SPDX-License-Identifier: MIT
 *
 * The inlined calls that code lies in, numbered from 1.
 */
#ifndef ENGINE_INLINE_SCOPES_H
#define ENGINE_INLINE_SCOPES_H

#include "base/hashmap.h"
#include "elf/modules.h"

struct scope {
	uint64_t origin; /* which function's it is */
	uint32_t parent; /* the scope that it is in, or 0 */
};

struct scopes {
	struct hashmap numbers;
	struct scope *table; /* from 1 */
	uint32_t n, cap;
};

void scopes_release(struct scopes *s);

/* The number of the innermost; 0: there is none, or no memory. */
uint32_t scopes_innermost(struct scopes *s, const struct inline_call *call);

/* Is the inlined call `inner` inlined, directly or not, into `outer`? */
int scopes_is_inside(const struct scopes *s, uint32_t inner, uint32_t outer);

/* The same function inlined at the same place as `outer`, where the code of
 * `inner` is said to be in it: compilers make one of what several inlined calls
 * have in common.  0: none. */
uint32_t scopes_twin(const struct scopes *s, uint32_t inner, uint32_t outer);

#endif
