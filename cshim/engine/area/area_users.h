/* SPDX-License-Identifier: MIT
 *
 * The processes that have the area mapped, as /proc reports them.
 */
#ifndef ENGINE_AREA_USERS_H
#define ENGINE_AREA_USERS_H

#include "area/area.h"

/* Count the processes, other than this one, that have the area mapped: each of
 * them is traced, or needs only to make a call to be.  A process that exec'ed
 * a program without the shim has the area no more. */
uint32_t area_n_running(const struct area *a);

/* Returns whether the process with this pid has the area mapped. */
int area_is_held(const struct area *a, uint32_t pid);

/* Returns the time since boot in the kernel's clock ticks (_SC_CLK_TCK). */
uint64_t area_now_ticks(void);

#endif
