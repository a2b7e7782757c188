/* SPDX-License-Identifier: MIT
 * Threads that call the same function, which often returns the same. */
#include <pthread.h>

#define KEPT __attribute__((noinline))

enum { N_THREADS = 3, N_ROUNDS = 100, MOST = 6 };

static volatile int total;

KEPT int square(int n)
{
	int result = n * n;

	total += result;
	return result;
}

KEPT int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += square(i);
	return sum;
}

static void *run(void *given)
{
	for (int i = 0; i < N_ROUNDS; i++)
		work(MOST);
	return given;
}

int main(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(threads + i, 0, run, 0))
			return 1;
	run(0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], 0);
	return 0;
}
