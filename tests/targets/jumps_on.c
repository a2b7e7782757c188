/* SPDX-License-Identifier: MIT
 * A function that ends by a jump to another, which does so, too, with others
 * between them; threads that call it. */
#include <pthread.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))
#define BETWEEN(name)             \
	KEPT int name(int n)      \
	{                         \
		total += n;       \
		return total ^ n; \
	}

enum { N_THREADS = 2, FOR_LONG = 1 << 30, PAUSE_US = 20 };

volatile int total;

BETWEEN(first_between)
BETWEEN(second_between)

KEPT int last(int n)
{
	return (((n ^ 5) + n) * 4) ^ n;
}

BETWEEN(third_between)
BETWEEN(fourth_between)

KEPT int middle(int n)
{
	return last((n ^ 9) * 2 + 8);
}

BETWEEN(fifth_between)
BETWEEN(sixth_between)

KEPT int first(int n)
{
	total -= n;
	return middle(n);
}

BETWEEN(seventh_between)
BETWEEN(eighth_between)

static void *run(void *given)
{
	for (int i = 0; i < FOR_LONG; i++) {
		total += first(i);
		if (given)
			usleep(PAUSE_US); /* else the trace is as long */
	}
	return given;
}

int main(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(threads + i, 0, run, threads))
			return 1;
	run(0);
	return 0;
}
