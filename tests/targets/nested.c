/* SPDX-License-Identifier: MIT
 *
 * nested N DEPTH: N calls of leaf(), each after a call that another function
 * makes, within DEPTH calls of down(), and then abort() in the innermost. */
#include <stdlib.h>

static volatile int total;

static void leaf(int n)
{
	total += n;
}

static void round_of(int n)
{
	leaf(n);
	leaf(n + 1);
}

static void work(int n)
{
	for (int i = 0; i < n; i++) {
		leaf(i);
		if (i % 7 == 0)
			round_of(i);
	}
	abort();
}

static void down(int depth, int n)
{
	if (depth > 1)
		down(depth - 1, n);
	else
		work(n);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		down(atoi(argv[2]), atoi(argv[1]));
	return 0;
}
