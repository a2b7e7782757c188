/* SPDX-License-Identifier: MIT
 *
 * The engine's own threads.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include <pthread.h>

/* It has all signals blocked: gdb hangs when a thread of ours takes its
 * SIGCHLD.  0, or a positive errno. */
int worker_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
