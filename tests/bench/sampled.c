/* SPDX-License-Identifier: MIT
 *
 * Always the same work, below 20 callers; writes the CPU time that it took.
 */
#include <stdio.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long work(unsigned long x)
{
	for (int i = 0; i < 2000; i++)
		__asm__ volatile("imul $3, %0" : "+r"(x));
	return x;
}

__attribute__((noinline)) static unsigned long below(int depth, unsigned long x)
{
	unsigned long result = depth ? below(depth - 1, x) : work(x);

	return result + 1;
}

int main(void)
{
	struct timespec took;

	for (int i = 0; i < 500000; i++)
		sink += below(20, (unsigned long)i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &took);
	printf("%.6f\n", (double)took.tv_sec + (double)took.tv_nsec / 1e9);
	return 0;
}
