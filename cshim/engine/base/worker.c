/* SPDX-License-Identifier: MIT
 *
 * Starts the engine's threads with all signals blocked.
 */
#include "base/worker.h"

#include <signal.h>

/* For libdw, which puts much on it: the usual limit (ulimit -s), from which
 * libc would take what it gives a thread, may be far less. */
enum { STACK_SIZE = 8 << 20 };

static int start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	size_t size = 0;
	int failed;

	if (pthread_attr_init(&attr))
		return pthread_create(thread, NULL, run, arg);
	pthread_attr_getstacksize(&attr, &size);
	if (size < STACK_SIZE)
		pthread_attr_setstacksize(&attr, STACK_SIZE);
	failed = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return failed;
}

int worker_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = start(thread, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed;
}

void worker_run(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (worker_start(&thread, run, arg))
		run(arg);
	else
		pthread_join(thread, NULL);
}
