/* SPDX-License-Identifier: MIT
 * Functions to stop in, by their arguments and results. */
#include <stdio.h>
#include <stdlib.h>

struct order {
	int price;
	const char *name;
};

__attribute__((noinline)) static int cost(int n, const char *name, double rate)
{
	int sum = n * 3 + (int)rate;

	if (name[0] == 'x')
		sum += 7;
	printf("%s %d\n", name, sum);
	return sum;
}

__attribute__((noinline)) static int twice(int n)
{
	return cost(n, n % 2 ? "xa" : "b", 0.5 * n) * 2 + 1;
}

__attribute__((noinline)) static int deep(int n, struct order *o)
{
	int below = n ? deep(n - 1, o) : o->price;

	return below + twice(n);
}

int main(void)
{
	struct order o = {50, "item"};
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += twice(i);
	sum += deep(5, &o);
	return sum < 0;
}
