/* SPDX-License-Identifier: MIT
 *
 * Where functions get their entries.
 */
#ifndef ENGINE_PLAN_PLACE_ENTRIES_H
#define ENGINE_PLAN_PLACE_ENTRIES_H

#include "plan/placement.h"

/* Places an entry in each chosen function, or sets its reason; is_for_gdb as
 * struct plan_choice says. */
void place_entries(struct placements *p);

#endif
