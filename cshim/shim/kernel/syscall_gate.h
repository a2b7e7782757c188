/* SPDX-License-Identifier: MIT
 *
 * Each system call of ours passes here.  A program that has made itself a
 * sandbox (sandbox.c) may die of one that it does not make itself: so what the
 * sandbox is known to forbid is not made, and fails.
 */
#ifndef SHIM_SYSCALL_GATE_H
#define SHIM_SYSCALL_GATE_H

struct sock_fprog;

/* The kernel's answer, or negative errno as if it were.  Async-signal-safe. */
long gate_call(long number, long a, long b, long c, long d, long e, long f);

/* Between these two, which may be nested, another thread's filter does not
 * come over us. */
void gate_hold(void);
void gate_release(void);

/* A filter is about to be made, which is the program's and may be anything; for
 * the calling thread and those that it makes, or for all. */
void gate_add_filter(const struct sock_fprog *program, int is_for_all);

#endif
