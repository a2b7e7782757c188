/* SPDX-License-Identifier: MIT
 *
 * The border: functions of a library that is not traced, where traced files
 * call them.
 */
#ifndef ENGINE_PLAN_BORDER_H
#define ENGINE_PLAN_BORDER_H

#include "plan/imports.h"
#include "plan/placement.h"

/* Sets is_chosen and reason of the functions that the image exports by one of
 * these names. */
void border_choose(struct functions *f, const struct image *im,
		   const struct imports *names);

/* Chooses, as CST_PLAN_ENDS_OTHERS, the functions that those which are traced
 * jump to, and so on: these return to the caller in their place. */
void border_follow(const struct placements *p);

/* Returns whether the ends of the function that the instruction jumps to are
 * reported. */
int border_target(const struct functions *f, const struct insn *jump);

#endif
