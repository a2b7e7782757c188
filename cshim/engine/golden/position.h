/* SPDX-License-Identifier: MIT
 *
 * How far one line's children are matched: what may come next, and whether they
 * may end here.
 */
#ifndef ENGINE_POSITION_H
#define ENGINE_POSITION_H

#include "golden/golden.h"

/* At the beginning item is the first child, and all else 0. */
struct position {
	uint32_t item; /* the child that is under way, or GOLDEN_NONE */
	uint32_t n;    /* how often */
	uint32_t group[GOLDEN_GROUP]; /* how often each child of a group */
};

/* Called for each item that the next child may be, with the position behind it.
 * Returns 1 to go on, 0 to end the search. */
typedef int (*reach_fn)(void *arg, uint32_t item, const struct position *after);

/* Calls found(arg, ...) for each item that may come after `from`.  Returns 1 if
 * the children may also end here; 0 if not, or if found() ended the search. */
int position_reach(const struct golden *g, const struct position *from,
		   reach_fn found, void *arg);
/* Returns 1 if the children may end here. */
int position_may_end(const struct golden *g, const struct position *at);

#endif
