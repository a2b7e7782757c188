/* SPDX-License-Identifier: MIT
 *
 * The border where its functions cannot be patched themselves: at the stubs by
 * which a traced file calls them.
 */
#ifndef ENGINE_PLAN_OWN_STUBS_H
#define ENGINE_PLAN_OWN_STUBS_H

#include "elf/stubs.h"
#include "plan/placement.h"
#include "plan/plan_make.h"

/* Adds a function, chosen, for each of the file's stubs that leads to one of
 * these calls.  Returns 0 or CST_MEMORY. */
int own_stubs_add(struct functions *f, const struct stubs *stubs,
		  const struct plan_choice *choice);

/* Gives each of them its entry. */
void own_stubs_place(struct placements *p, const struct stubs *stubs);

#endif
