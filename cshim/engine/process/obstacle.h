/* SPDX-License-Identifier: MIT
 *
 * Whether the shim can be loaded into a process that runs already.
 */
#ifndef ENGINE_OBSTACLE_H
#define ENGINE_OBSTACLE_H

#include "process/remote_modules.h"

/* Returns NULL, or why the process cannot load the shim, which is the file at
 * shim, in words that stand behind "process 12: ".  The caller may be the
 * process's debugger. */
const char *obstacle(pid_t pid, const struct remote_modules *m,
		     const char *shim);

#endif
