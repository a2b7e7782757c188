/* SPDX-License-Identifier: MIT
 *
 * Marks in the thread's records where libc's functions make a child.
 */
#ifndef SHIM_CLONE_H
#define SHIM_CLONE_H

#include "kernel/state.h"

/* Run before clone(), fork() and syscall(); called by assembly only. */
HIDDEN void before_clone(int (*function)(void *), void *stack, int flags);
HIDDEN void before_fork(void);
HIDDEN void before_syscall(long number, long a, long b, long c, long d, long e);

#endif
