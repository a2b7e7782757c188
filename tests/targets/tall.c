/* SPDX-License-Identifier: MIT
 *
 * Works below a hundred frames of a page each, without a system call.  argv:
 * for how long, in ms of its CPU time or a few times as many.
 */
#include <stdlib.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void work(int ms)
{
	for (long i = 0; i < 1000000L * ms; i++)
		sum++;
}

__attribute__((noinline)) static int climb(int n, int ms)
{
	volatile char room[4096];

	room[n] = 1;
	if (n)
		climb(n - 1, ms);
	else
		work(ms);
	return room[n];
}

int main(int argc, char **argv)
{
	return !climb(100, argc > 1 ? atoi(argv[1]) : 0);
}
