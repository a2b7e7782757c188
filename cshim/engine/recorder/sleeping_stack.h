/* SPDX-License-Identifier: MIT
 *
 * The stack of a thread that waits in a system call, read from outside: nothing
 * stops it, and no signal comes to it.
 */
#ifndef ENGINE_SLEEPING_STACK_H
#define ENGINE_SLEEPING_STACK_H

#include "elf/modules.h"

/* Where the kernel says that a thread waits. */
struct sleeping_place {
	uint64_t pc, sp;
};

/* Reads it.  0: the thread does not wait, or we may not see it. */
int sleeping_place(uint32_t pid, uint32_t tid, struct sleeping_place *out);

/* Puts the addresses of its frames into frames[], innermost first, at most max;
 * return addresses less 1.  Returns how many; *is_cut is 1 if outer ones are
 * missing. */
uint32_t sleeping_stack(struct modules *modules, uint32_t pid,
			const struct sleeping_place *place, uint64_t *frames,
			uint32_t max, int *is_cut);

#endif
