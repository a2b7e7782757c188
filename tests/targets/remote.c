/* SPDX-License-Identifier: MIT
 *
 * A number of equal turns, in one thread or two, that begin a file once they
 * are under way; or turns without an end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

static void leaf(int n)
{
	sum += n;
}

static void turn(int n)
{
	leaf(n);
}

static void under_way(void)
{
	FILE *f = fopen("under-way", "w");

	if (f)
		fclose(f);
}

static void *turns(void *n)
{
	for (long i = 0; i < (long)n; i++)
		turn(1);
	return NULL;
}

static void for_ever(void)
{
	for (int i = 0;; i++) {
		turn(i);
		if (i == 20000)
			under_way();
		if (i > 20000)
			usleep(100);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "ever"))
		for_ever();
	if (argc > 2 && !strcmp(argv[2], "exec"))
		execl(argv[0], argv[0], "3", (char *)NULL);
	if (argc > 2 && !strcmp(argv[2], "fork") && !fork()) {
		turns((void *)2L);
		_exit(0);
	}
	if (argc > 2 && !strcmp(argv[2], "threads"))
		pthread_create(&thread, NULL, turns, (void *)n);
	turns((void *)n);
	if (argc > 2 && !strcmp(argv[2], "threads"))
		pthread_join(thread, NULL);
	printf("sum %d\n", sum);
	return 0;
}
