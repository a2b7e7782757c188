/* SPDX-License-Identifier: MIT
 *
 * Which functions a plan is about, and which of them are left alone.
 */
#ifndef ENGINE_PLAN_CHOOSE_H
#define ENGINE_PLAN_CHOOSE_H

#include "plan/functions.h"
#include "plan/plan_make.h"

/* Sets is_chosen and reason of all functions; has_debug: there is debug
 * information.  Returns 0, CST_BAD_INPUT for a choice that is wrong, or
 * CST_MEMORY. */
int choose(struct functions *f, const struct image *im,
	   const struct plan_choice *choice, int has_debug,
	   struct cst_error *err);

/* Is it musl, which is libc and loader? */
int choose_is_musl(const struct image *im);
/* Is it what programs are loaded and unwound by, or what traces them, and no
 * libc? */
int choose_is_loader(const struct image *im);

#endif
