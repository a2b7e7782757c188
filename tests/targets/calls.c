/* SPDX-License-Identifier: MIT
 *
 * A plain tree: static functions, recursion, two calls on one line, a call
 * spread over lines, a callback through qsort() and one by pointer.
 */
#include <stdio.h>
#include <stdlib.h>

static int leaf(int n)
{
	return n + 1;
}

static int pair(int n)
{
	return leaf(n) * leaf(n + 1);
}

static int down(int n)
{
	if (n == 0)
		return 0;
	return down(n - 1) + 1;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int through(int (*function)(int), int n)
{
	return function(n);
}

static int spread(int n)
{
	int sum = pair(n);

	sum += leaf(leaf(n) + 1);
	return sum;
}

int main(void)
{
	int values[] = {3, 1, 2};
	int sum = spread(1);

	sum += down(3);
	qsort(values, 3, sizeof(*values), compare);
	sum += through(leaf, values[0]);
	for (int i = 0; i < 2; i++)
		sum += leaf(i);
	printf("sum %d\n", sum);
	return 0;
}
