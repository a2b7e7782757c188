/* SPDX-License-Identifier: MIT
 *
 * Landings: what has two bytes only jumps to five others near it, and these
 * jump to the trampoline.
 */
#ifndef ENGINE_PLAN_LANDING_H
#define ENGINE_PLAN_LANDING_H

#include "plan/placement.h"

/* Adds a patch that is a short jump, with a landing: in padding, or behind the
 * jump of an entry, which then displaces more.  For gdb, in the same function
 * and where a frame is unwound in the same way, since a step stops between the
 * two jumps: behind the jump of the entry, or of a host, which is code that is
 * displaced for that alone.  Returns 1, or 0 if there is no room. */
int landing_add(struct placements *p, const struct placement *new);

#endif
