/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART __attribute__((noinline))

struct point {
	int x, y;
};
enum color { RED, GREEN, BLUE };
enum { N_THREADS = 3, N_SUMS = 400 };

static volatile int sink;

PART int parse(const char *s, int base)
{
	return (int)strtol(s, NULL, base);
}

PART int area(const struct point *p, enum color c)
{
	return p->x * p->y + (int)c;
}

PART void nothing(void)
{
	sink++;
}

PART int fib(int n, int depth)
{
	if (n < 2)
		return n;
	return fib(n - 1, depth + 1) + fib(n - 2, depth + 1);
}

PART int length(const char *s)
{
	return s ? 1 : 0; /* it does not look */
}

PART long sum(long a, long b)
{
	return a + b;
}

PART void on_signal(int number)
{
	sink += number;
}

PART int in_child(int x)
{
	return x + 1;
}

PART long has_many(int n, const char *text)
{
	long last = 0;

	for (int i = 0; i < n && text; i++)
		last = sum(i, i);
	return last;
}

static void *work(void *arg)
{
	for (long i = 0; i < N_SUMS; i++)
		sink += (int)sum(i, (long)arg);
	return NULL;
}

/* Threads that a signal comes to, and a child. */
static void be_busy(void)
{
	pthread_t threads[N_THREADS];
	pid_t child;

	signal(SIGUSR1, on_signal);
	for (long i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (!child)
		exit(in_child(77) == 78 ? 0 : 1);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	struct point p = {3, 4};

	sink = parse("12+3", 10);
	sink += parse("ff", 16);
	sink += parse("99", 10);
	sink += area(&p, BLUE);
	nothing();
	sink += fib(3, 0);
	if (argc > 1 && !strcmp(argv[1], "bad"))
		sink += length((const char *)0x10);
	if (argc > 1 && !strcmp(argv[1], "busy"))
		be_busy();
	if (argc > 1 && !strcmp(argv[1], "deep"))
		sink += (int)has_many(20000, "all of them");
	for (long i = 0; argc > 1 && !strcmp(argv[1], "many") && i < 50000; i++)
		sink += (int)sum(i, 1);
	return 0;
}
