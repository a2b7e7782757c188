/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Debug information is read by libdw, which puts much on the stack.  The limit
 * is left as it is, for it is the program's: where it is small all is done in a
 * thread, whose stack is no matter of that limit.
 */
#include "big_stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/worker.h"

enum { ENOUGH = 4 << 20 };

struct work {
	int (*run)(int argc, char **argv);
	int argc;
	char **argv;
	sigset_t mask;
	int result;
};

static void *work_do(void *arg)
{
	struct work *w = arg;

	/* All that is sent to the process is this thread's. */
	pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
	w->result = w->run(w->argc, w->argv);
	return NULL;
}

int big_stack_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct work w = {.run = run, .argc = argc, .argv = argv};
	struct rlimit limit;
	pthread_t thread;
	sigset_t all;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= ENOUGH)
		return run(argc, argv);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &w.mask);
	if (worker_start(&thread, work_do, &w) == 0)
		pthread_join(thread, NULL);
	else
		work_do(&w);
	return w.result;
}
