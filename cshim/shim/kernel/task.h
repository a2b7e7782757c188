/* SPDX-License-Identifier: MIT
 *
 * What the kernel says of a thread, of this process or another.
 * Async-signal-safe.
 */
#ifndef SHIM_TASK_H
#define SHIM_TASK_H

#include <stdint.h>

struct task {
	char state;	/* as in /proc/TID/stat; 'R' has or wants a processor */
	uint64_t flags; /* the kernel's PF_... */
	uint64_t ticks; /* of processor time */
};

/* Returns 0, or -1 if it cannot be read. */
int task_look(uint32_t tid, struct task *t);

#endif
