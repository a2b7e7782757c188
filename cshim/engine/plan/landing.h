/* SPDX-License-Identifier: MIT
 *
 * Landings: what has two bytes only jumps to five others near it, and these
 * jump to the trampoline.
 */
#ifndef ENGINE_PLAN_LANDING_H
#define ENGINE_PLAN_LANDING_H

#include "plan/placement.h"

/* Takes the bytes for the landing of a short jump, and sets one->landing and
 * one->host: in padding, or behind the jump of an entry, which then displaces
 * more.  For gdb, in the same function and where a frame is unwound in the same
 * way, since a step stops between the two jumps: behind the jump of the entry,
 * or of a host, which is code that is displaced for that alone.  Returns 1, or
 * 0 if there is no room. */
int landing_take(struct placements *p, struct placement *one);

#endif
