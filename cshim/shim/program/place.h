/* SPDX-License-Identifier: MIT
 *
 * The text of a place in the source that uses cstrace.h.
 */
#ifndef SHIM_PLACE_H
#define SHIM_PLACE_H

#include "cstrace/cstrace.h"

/* Returns what a site has for the place (struct cst_site.hook): 1 + the offset
 * of its text in the area, after putting it there, or 0 if there is no room.
 * code is an address in its code; is_call: its name is a function's.
 * Async-signal-safe; the state is "on". */
uint64_t place_text(struct cstrace_place *place, uint64_t code, int is_call);

#endif
