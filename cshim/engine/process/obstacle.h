/* SPDX-License-Identifier: MIT
 *
 * Whether the shim can be loaded into a process that runs already.
 */
#ifndef ENGINE_OBSTACLE_H
#define ENGINE_OBSTACLE_H

#include "process/remote_modules.h"

/* Returns the process that traces this one's first thread, 0: none does.  It
 * waits for the end of a visit, at most half a second: another cstrace may just
 * look at that thread. */
pid_t tracer_of(pid_t pid);

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
