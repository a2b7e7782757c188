/* SPDX-License-Identifier: MIT
 *
 * A few calls to step through.
 */
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone))

KEPT int leaf(int n)
{
	int r = n * 3;

	if (n > 4)
		r++;
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

int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int i = 0; i < 2; i++)
		sum += outer(argc + i);
	printf("%d\n", sum);
	return 0;
}
