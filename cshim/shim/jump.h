/* SPDX-License-Identifier: MIT
 *
 * Telling that calls were left without their exit hooks.
 */
#ifndef SHIM_JUMP_H
#define SHIM_JUMP_H

#include <stdint.h>

/* Where a thread goes on. */
struct jump {
	uint64_t sp;
	uint64_t fp;
	uint64_t pc;	 /* as a return address */
	int is_anywhere; /* what is inlined there does not tell what is left */
};

/* This thread goes on there. */
void jump_tell(const struct jump *to);

#endif
