/* SPDX-License-Identifier: MIT
 *
 * A pool of processes, forked without exec while threads run: all write at the
 * same time, and much more than one chunk.
 */
#include "expect.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

enum { WORKERS = 6, JOBS = 400, STEPS = 50 };

NOINLINE static void step(void)
{
	__asm__ volatile("");
}

NOINLINE static void job(void)
{
	for (int i = 0; i < STEPS; i++)
		step();
}

NOINLINE static void work(void)
{
	for (int i = 0; i < JOBS; i++)
		job();
}

NOINLINE static void *beside(void *arg)
{
	work();
	return arg;
}

NOINLINE static void pool(void)
{
	pid_t pids[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			work();
			_exit(0);
		}
	}
	work();
	for (int i = 0; i < WORKERS; i++)
		waitpid(pids[i], NULL, 0);
}

QUIET static void tell(void)
{
	char line[128];
	int n = WORKERS + 2;

	/* A child's tree begins with the calls that it was forked in. */
	n = snprintf(line, sizeof(line),
		     "counts main %d pool %d beside 1 work %d job %d step %d\n",
		     WORKERS + 1, WORKERS + 1, n, n * JOBS, n * JOBS * STEPS);
	if (write(9, line, (size_t)n) != n)
		_exit(9);
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, beside, NULL);
	pool();
	pthread_join(t, NULL);
	tell();
	return 0;
}
