/* SPDX-License-Identifier: MIT
 * Threads that call the same function, which often returns the same; with an
 * argument for as long as a test takes. */
#include <pthread.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

enum { N_THREADS = 3, N_ROUNDS = 100, N_FOR_LONG = 1 << 30, MOST = 6 };
enum { PAUSE_US = 20 };

static volatile int total;
static int n_rounds = N_ROUNDS;

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
	for (int i = 0; i < n_rounds; i++) {
		work(MOST);
		if (given && n_rounds == N_FOR_LONG)
			usleep(PAUSE_US); /* else the trace is as long */
	}
	return given;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	(void)argv;
	if (argc > 1)
		n_rounds = N_FOR_LONG;
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(threads + i, 0, run, &n_rounds))
			return 1;
	run(0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], 0);
	return 0;
}
