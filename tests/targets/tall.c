/* SPDX-License-Identifier: MIT
 *
 * Works below a hundred frames of a page each.  argv: for how long, in ms of
 * its CPU time.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void work(int ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		for (int i = 0; i < 10000; i++)
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
