/* SPDX-License-Identifier: MIT
 *
 * Which calls the rows of a screen lie in: for each lane the rows around the
 * one that came last.  Where rows are left out, those that follow are told
 * their callers by this.
 */
#ifndef ENGINE_TRAIL_H
#define ENGINE_TRAIL_H

#include <stdint.h>

struct screen_row;

struct trail {
	struct screen_row *rows; /* the outermost first */
	uint32_t n, cap;
	uint64_t latest; /* the row that was added last, screen_add_behind() */
	uint8_t is_cut;	 /* rows of the lane were left out, and not told yet */
};

struct trails {
	struct trail *all; /* by lane */
	uint32_t n;
};

void trails_release(struct trails *t);
/* The lane's; NULL: no memory. */
struct trail *trails_of(struct trails *t, uint32_t lane);
/* The row is the next of its lane, drawn or left out.  Where there is no memory
 * for it, callees do without their caller. */
void trails_follow(struct trails *t, const struct screen_row *row);
/* How many of the trail's rows are callers of this one, which comes next. */
uint32_t trail_callers(const struct trail *t, const struct screen_row *row);

#endif
