/* SPDX-License-Identifier: MIT
 *
 * How far one line's children are matched: what may come next, and whether they
 * may end here.
 */
#ifndef ENGINE_POSITION_H
#define ENGINE_POSITION_H

#include "golden/golden.h"

/* Zeroed but for its item: before the first. */
struct position {
	uint32_t item; /* the child that is under way, or GOLDEN_NONE */
	uint32_t n;    /* how often */
	uint32_t group[GOLDEN_GROUP]; /* how often each of a group */
};

/* Called for each item that the next child may be, with the position behind it.
 * Returns 1 to go on. */
typedef int (*reach_fn)(void *arg, uint32_t item, const struct position *after);

/* position_reach() calls found for each item that may come after `from`; both
 * functions return 1 if the children may end here. */
int position_reach(const struct golden *g, const struct position *from,
		   reach_fn found, void *arg);
int position_may_end(const struct golden *g, const struct position *at);

#endif
