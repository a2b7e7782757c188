/* SPDX-License-Identifier: MIT */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include "kernel/state.h"

/* Looks at a system call that the program is about to make, with its first
 * arguments, for whether it begins a sandbox. */
void sandbox_enters(long number, long a, long b, long c);

/* Run before prctl(); called by assembly only. */
HIDDEN void before_prctl(int option, unsigned long mode, unsigned long program);

#endif
