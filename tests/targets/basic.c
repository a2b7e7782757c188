/* SPDX-License-Identifier: MIT
 *
 * A small tree with known numbers: fib(n), a static function, and ways to
 * end.  basic [N [abort|segv|_exit|quick]]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int total;

int fib(int n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static void leaf(int i)
{
	total += i;
}

static void middle(int n)
{
	for (int i = 0; i < n; i++)
		leaf(i);
}

static void die(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick"))
		quick_exit(4);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;

	middle(3);
	total += fib(n);
	printf("fib(%d) done\n", n);
	fflush(stdout);
	if (argc > 2)
		die(argv[2]);
	return 0;
}
