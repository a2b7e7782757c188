/* SPDX-License-Identifier: MIT
 *
 * Plans that were made before, in the user's cache: a file for each plan_id()
 * and choice in $XDG_CACHE_HOME/cstrace/plans.
 */
#ifndef ENGINE_PLAN_CACHE_H
#define ENGINE_PLAN_CACHE_H

#include "plan/plan_make.h"

/* Returns the cached plan of the file and the choice, or makes and caches it.
 * A cache that cannot be written is no failure.  Otherwise as plan_make(). */
int plan_get(const char *path, const struct plan_choice *choice,
	     struct plan **out, struct cst_error *err);

/* Is there one?  It may be damaged. */
int plan_is_cached(const char *path, const struct plan_choice *choice);

#endif
