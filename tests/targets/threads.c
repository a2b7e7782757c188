/* SPDX-License-Identifier: MIT
 *
 * N threads that make M calls each, at the same time; and one that waits.
 * threads [N [M]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

static int n_calls = 3;
static pthread_barrier_t all_here;

int step(int i)
{
	return i + 1;
}

void *worker(void *arg)
{
	volatile int n = 0;

	pthread_barrier_wait(&all_here);
	for (int i = 0; i < n_calls; i++)
		n = step(n);
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t threads[MAX_THREADS];

	if (n < 1 || n > MAX_THREADS)
		return 2;
	if (argc > 2)
		n_calls = atoi(argv[2]);
	pthread_barrier_init(&all_here, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	puts("threads done");
	return 0;
}
