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

#endif
