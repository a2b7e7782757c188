/* SPDX-License-Identifier: MIT
 * Functions with variables that are in memory where nothing is optimized. */
#include <stdio.h>

#define KEPT __attribute__((noinline))

KEPT int square(int n)
{
	long local = 0x123456789abc; /* room for a patch */

	local = n * n;
	return (int)local;
}

KEPT int factorial(int n)
{
	int more = n + 100;
	char text[40];
	int result;

	snprintf(text, sizeof(text), "%d", more);
	result = n < 2 ? 1 : n * factorial(n - 1);
	return result;
}

/* It has no line with room for a patch at its end. */
KEPT int next_square(int n)
{
	int local = n * n;

	local += 1;
	return local;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += square(i) - next_square(i);
	printf("%d %d\n", sum, factorial(5));
	return 0;
}
