/* SPDX-License-Identifier: MIT */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include "kernel/state.h"

/* A system call that the program is about to make, with its first arguments:
 * does it begin a sandbox? */
void sandbox_enters(long number, long a, long b, long c);

/* What is to be done before prctl(); called by assembly only. */
HIDDEN void before_prctl(int option, unsigned long mode, unsigned long program);

#endif
