/* SPDX-License-Identifier: MIT
 *
 * Whether a thread that stands still can make a call of libc's: it holds no
 * lock of libc's, of the dynamic linker's or of malloc()'s, and is in no signal
 * handler.
 */
#ifndef ENGINE_SAFE_PLACE_H
#define ENGINE_SAFE_PLACE_H

#include "cstrace/control.h"
#include "process/remote_modules.h"

#include <sys/user.h>

/* Returns whether a thread with these registers stands in a system call that
 * the kernel makes anew if no signal comes. */
int safe_place_is_waiting(const struct user_regs_struct *r);

/* Returns NULL if the place is safe, else what the thread is in, in words that
 * stand behind "it is". */
const char *safe_place(pid_t tid, const struct remote_modules *m);

/* Returns whether the thread is within the shim or the areas of plans, or
 * perhaps.  areas: cstrace_patched, as it is in the process. */
int safe_place_is_in_shim(pid_t tid, const struct remote_modules *m,
			  const struct cst_patched_table *areas);

#endif
