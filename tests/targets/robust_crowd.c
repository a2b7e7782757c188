/* SPDX-License-Identifier: MIT
 *
 * robust_crowd sleep N: N threads make a call each and sleep until all have.
 * robust_crowd pass N: N threads come and go, 64 at once, 30 calls each.
 * robust_crowd calls N: N million calls of leaf() on one thread.
 * robust_crowd wait N: like calls, once a byte comes from standard input.
 * robust_crowd midway N: like wait; says "midway" after a million calls, and
 * waits again.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET __attribute__((no_instrument_function))

enum { AT_ONCE = 64 };

static pthread_barrier_t all_here;
static long n_calls;

static void leaf(long n)
{
	__asm__ volatile("" : : "r"(n));
}

static void turn(void)
{
	for (int i = 0; i < 29; i++)
		leaf(i);
	__atomic_fetch_add(&n_calls, 30, __ATOMIC_RELAXED);
}

QUIET static void *sleeper(void *arg)
{
	leaf(1);
	pthread_barrier_wait(&all_here);
	leaf(2);
	__atomic_fetch_add(&n_calls, 2, __ATOMIC_RELAXED);
	return arg;
}

QUIET static void *passer(void *arg)
{
	turn();
	return arg;
}

QUIET static void start(pthread_t *thread, void *(*body)(void *))
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(thread, &attr, body, NULL))
		abort();
	pthread_attr_destroy(&attr);
}

QUIET static void run(int n, int at_once, void *(*body)(void *))
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	for (int i = 0; i < n; i++) {
		if (i >= at_once)
			pthread_join(threads[i - at_once], NULL);
		start(&threads[i], body);
	}
	for (int i = n > at_once ? n - at_once : 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

QUIET static void call_often(int n_millions)
{
	for (; n_calls < n_millions * 1000000l; n_calls++)
		leaf(n_calls);
}

QUIET static void say_and_wait(const char *word)
{
	puts(word);
	fflush(stdout);
	getchar();
}

/* For gdb to stop at. */
QUIET __attribute__((noinline)) static void finish(void)
{
	printf("%ld calls\n", n_calls);
	fflush(stdout);
}

QUIET int main(int argc, char **argv)
{
	int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;

	pthread_barrier_init(&all_here, NULL, (unsigned)n);
	if (argc > 1 && !strcmp(argv[1], "sleep"))
		run(n, n, sleeper);
	if (argc > 1 && !strcmp(argv[1], "pass"))
		run(n, AT_ONCE, passer);
	if (argc > 1 && !strcmp(argv[1], "calls"))
		call_often(n);
	if (argc > 1 &&
	    (!strcmp(argv[1], "wait") || !strcmp(argv[1], "midway"))) {
		leaf(0);
		say_and_wait("ready");
		if (*argv[1] == 'm') {
			call_often(1);
			say_and_wait("midway");
		}
		call_often(n);
	}
	finish();
	return 0;
}
