/* SPDX-License-Identifier: MIT
 *
 * Telling that calls were left without their exit hooks.
 */
#ifndef SHIM_JUMP_H
#define SHIM_JUMP_H

#include <stdint.h>

/* This thread goes on where the stack pointer is `sp`, by a return to `pc`, or
 * 0: not known. */
void jump_tell(uint64_t sp, uint64_t pc);

#endif
