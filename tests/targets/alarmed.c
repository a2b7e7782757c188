/* SPDX-License-Identifier: MIT
 * Calls all the time, and a signal at each tick of the processor's clock. */
#include <sys/time.h>

__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	struct itimerval tick = {{0, 1000}, {0, 1000}};
	int sum = 0;

	setitimer(ITIMER_VIRTUAL, &tick, 0);
	for (;;)
		sum += fib(15);
	return sum;
}
