/* SPDX-License-Identifier: MIT
 *
 * Children that libc's functions are about to make.
 */
#ifndef SHIM_CLONE_H
#define SHIM_CLONE_H

#include "kernel/state.h"

/* What is to be done before clone(), fork() and syscall(); called by assembly
 * only. */
HIDDEN void before_clone(int (*function)(void *), void *stack, int flags);
HIDDEN void before_fork(void);
HIDDEN void before_syscall(long number, long a, long b, long c);

#endif
