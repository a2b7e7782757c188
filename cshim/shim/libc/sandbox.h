/* SPDX-License-Identifier: MIT
 *
 * The program's own seccomp filters.
 */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include "kernel/state.h"

/* Looks at a system call that the program is about to make, with its first
 * three arguments, and prepares the shim if it begins a sandbox. */
void sandbox_enters(long number, long a, long b, long c);

/* Run before prctl(); called by assembly only. */
HIDDEN void before_prctl(int option, unsigned long mode, unsigned long program);

#endif
