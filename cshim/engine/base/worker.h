/* SPDX-License-Identifier: MIT
 *
 * The engine's own threads.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include <pthread.h>

/* Starts a thread that runs run(arg) with all signals blocked: gdb hangs when a
 * thread other than its own receives its SIGCHLD. Returns 0, or a positive
 * errno.  The caller joins *thread. */
int worker_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* Runs run(arg) in such a thread and waits for it, so that what it takes of
 * memory and gives back leaves the caller's heap as it was: gdb 13 sorts
 * symbols by where they lie in it, and fails at a breakpoint on time() if
 * libc's resolver comes before the kernel's function.  Without a thread it runs
 * here. */
void worker_run(void *(*run)(void *), void *arg);

#endif
