/* SPDX-License-Identifier: MIT
 *
 * The calls that the rows of a screen lie in: for each lane the rows around the
 * latest one.  Where rows are left out, this provides the callers of those that
 * follow.
 */
#ifndef ENGINE_TRAIL_H
#define ENGINE_TRAIL_H

#include <stdint.h>

struct screen_row;

struct trail {
	struct screen_row *rows; /* the outermost first */
	uint32_t n, cap;
	uint64_t latest; /* the row that was added last, screen_add_behind() */
	uint8_t is_cut;	 /* rows of the lane were left out, and no note says so
			    yet */
};

struct trails {
	struct trail *all; /* by lane */
	uint32_t n;
};

/* Frees the memory of t. */
void trails_release(struct trails *t);
/* Returns the lane's trail, or NULL when out of memory. */
struct trail *trails_of(struct trails *t, uint32_t lane);
/* Makes the row the next of its lane, drawn or left out.  When out of memory,
 * callees are drawn without their callers. */
void trails_follow(struct trails *t, const struct screen_row *row);
/* Returns how many of the trail's rows are callers of this one, which comes
 * next. */
uint32_t trail_callers(const struct trail *t, const struct screen_row *row);

#endif
