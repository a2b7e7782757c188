/* SPDX-License-Identifier: MIT
 *
 * crew THREADS ROUNDS: named threads that all start at a barrier and make
 * ROUNDS calls of two(), each of which calls one() twice.  Prints how many
 * calls of each function were made, as counted by the program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

static pthread_barrier_t barrier;
static int n_rounds;
static __thread volatile long n_one, n_two;
static long all_one, all_two;

static void one(void)
{
	n_one++;
}

static void two(void)
{
	n_two++;
	one();
	one();
}

static void *member(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "crew-%d", (int)(long)arg);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n_rounds; i++)
		two();
	__atomic_fetch_add(&all_one, n_one, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all_two, n_two, __ATOMIC_RELAXED);
	return NULL;
}

/* Not atoi(): the header's inline one is instrumented like all else. */
__attribute__((no_instrument_function)) static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	int n_threads = number(argc > 1 ? argv[1] : "2");
	pthread_t threads[MAX_THREADS];

	n_rounds = number(argc > 2 ? argv[2] : "2");
	pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, member,
			       (void *)(long)(i + 1));
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	printf("member %d two %ld one %ld\n", n_threads, all_two, all_one);
	return 0;
}
