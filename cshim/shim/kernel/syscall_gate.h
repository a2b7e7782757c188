/* SPDX-License-Identifier: MIT
 *
 * Each system call of the shim passes here.  A program that has made itself a
 * sandbox (sandbox.c) may be killed for a system call that it does not make
 * itself: so those that the sandbox is known to forbid are not made, and fail.
 */
#ifndef SHIM_SYSCALL_GATE_H
#define SHIM_SYSCALL_GATE_H

#include <stdint.h>

struct sock_fprog;

/* Makes a system call.  Returns the kernel's result, or a negative errno as if
 * it were.  Async-signal-safe. */
long gate_call(long number, long a, long b, long c, long d, long e, long f);

/* Between these two calls, which may be nested, no other thread's filter comes
 * into force for this thread. */
void gate_hold(void);
void gate_release(void);

/* Takes note of a filter that the program is about to add, for the calling
 * thread and those that it makes or, with is_for_all, for all threads; it then
 * waits for calls that other threads are in, about 100 ms at most.  program is
 * the program's pointer and need not be valid. */
void gate_add_filter(const struct sock_fprog *program, int is_for_all);

/* The calling thread's system calls are handed to the program itself as long as
 * *selector is not 0 (PR_SET_SYSCALL_USER_DISPATCH); selector NULL: always.
 * is_on 0: no more.  selector is the program's pointer and need not be valid.
 */
void gate_dispatch(int is_on, const volatile uint8_t *selector);

#endif
