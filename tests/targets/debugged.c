/* SPDX-License-Identifier: MIT
 * A few calls for a debugger's commands. */
#include <signal.h>
#include <stdio.h>

#define KEPT __attribute__((noinline))

int total;

KEPT int leaf(int n)
{
	int r = n * 3;

	if (n > 4)
		r++;
	total += r;
	return r;
}

KEPT int middle(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += leaf(i);
	return s;
}

KEPT int outer(int n)
{
	int a = middle(n);
	int b = middle(n + 1);

	return a + b + leaf(b);
}

KEPT int tells(int n)
{
	raise(SIGUSR1);
	return outer(n) + 1;
}

static void handle(int signal)
{
	(void)signal;
	total += leaf(9);
}

int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	signal(SIGUSR1, handle);
	for (int i = 0; i < 2; i++)
		sum += outer(argc + i);
	sum += tells(2);
	printf("%d\n", sum + total);
	return 0;
}
