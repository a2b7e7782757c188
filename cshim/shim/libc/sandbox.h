/* SPDX-License-Identifier: MIT
 *
 * The program's own seccomp filters.
 */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include "kernel/state.h"

/* Looks at a system call that the program is about to make, with its arguments,
 * and prepares the shim if it begins a sandbox. */
void sandbox_enters(long number, const long arguments[5]);

/* Run before prctl(); called by assembly only. */
HIDDEN void before_prctl(int option, long mode, long program, long size,
			 long selector);

#endif
