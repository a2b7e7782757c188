/* SPDX-License-Identifier: MIT
 *
 * Where the ends of functions are noticed.
 */
#ifndef ENGINE_PLAN_PLACE_EXITS_H
#define ENGINE_PLAN_PLACE_EXITS_H

#include "plan/placement.h"

/* Places a patch at each end of the functions that have an entry, and counts
 * for them those that it cannot place. */
void place_exits(struct placements *p);

#endif
