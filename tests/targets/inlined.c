/* SPDX-License-Identifier: MIT
 *
 * Functions that a compiler inlines at -O2, one into the other, several times
 * into one function, and in a loop: each has its own call line all the same.
 */
#include <stdio.h>

static volatile int sink;

static inline void put(int n)
{
	sink = n;
}

static inline void put_two(int n)
{
	put(n);
	put(n + 1);
}

static inline __attribute__((always_inline)) void always(int n)
{
	put(n);
}

__attribute__((noinline)) static void physical(int n)
{
	put_two(n);
	always(n);
	for (int i = 0; i < 2; i++)
		put(i);
	put(n);
}

int main(void)
{
	physical(1);
	always(2);
	printf("sink %d\n", sink);
	return 0;
}
