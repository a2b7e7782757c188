/* SPDX-License-Identifier: MIT; calls that only their arguments tell apart. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline))

static volatile int sink;
static jmp_buf back;

CALLED int leaf(int n)
{
	sink += n;
	return n * 2;
}

CALLED int visit(int n)
{
	int twice = leaf(n);

	sink += twice;
	return twice + n;
}

CALLED int down(int n)
{
	int got = n ? down(n - 1) : visit(100);

	sink += got;
	return got + 1;
}

CALLED void nap(int n)
{
	struct timespec t = {.tv_nsec = n % 4 == 3 ? 400000000 : 1000};

	nanosleep(&t, NULL);
	sink += n;
}

CALLED int risky(int n)
{
	if (n == 2)
		longjmp(back, 1);
	sink += n;
	return n;
}

CALLED static void *worker(void *arg)
{
	int first = *(int *)arg;

	for (int i = 0; i < 10; i++)
		visit(first + i);
	return NULL;
}

CALLED void threads(void)
{
	int firsts[3] = {1000, 2000, 3000};
	pthread_t ids[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&ids[i], NULL, worker, &firsts[i]);
		pthread_join(ids[i], NULL);
	}
}

/* How often has this been run? */
CALLED int runs(void)
{
	FILE *f = fopen("runs", "a+");
	long n;

	fputc('.', f);
	n = ftell(f);
	fclose(f);
	return (int)n;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "differs"))
		for (int i = runs(); i > 1; i--)
			leaf(-i);
	if (!strcmp(how, "fewer") && runs() > 1)
		return 0;
	if (!strcmp(how, "forks") && fork() == 0) {
		visit(7);
		_exit(visit(8) == 0);
	}
	if (!strcmp(how, "threads"))
		threads();
	for (int i = 0; i < 5; i++)
		visit(i);
	down(3);
	if (!strcmp(how, "naps"))
		for (int i = 0; i < 8; i++)
			nap(i);
	for (volatile int i = 0; !strcmp(how, "jumps") && i < 4; i++)
		if (!setjmp(back))
			risky(i);
	if (!strcmp(how, "crashes"))
		abort();
	printf("%d\n", sink);
	return 0;
}
