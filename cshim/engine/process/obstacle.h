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

/* Returns NULL, or why the process cannot call dlopen(), in such words: a
 * debugger that was killed has left breakpoints in the dynamic linker, which
 * would end the process there.  memory is a descriptor of /proc/PID/mem; the
 * caller has no breakpoints there itself. */
const char *loader_obstacle(int memory, const struct remote_modules *m);

#endif
