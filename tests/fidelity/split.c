/* SPDX-License-Identifier: MIT
 *
 * Functions split by the compiler: the first part is inlined with the entry
 * hook, the rest with the exit hook is called as a function of its own.
 */
#include "expect.h"
#include <setjmp.h>

static jmp_buf jb;
static volatile int sink;

NOINLINE static int leaf(int d, int n)
{
	expect(d, "leaf");
	sink += n;
	return sink;
}

/* Tells nothing itself: its first part must stay cheap. */
void join(int d, int n)
{
	if (__builtin_expect(n == 1, 1))
		return;
	do {
		int have = leaf(d + 1, n);

		if (have < 0)
			have = leaf(d + 1, have);
		for (int i = 0; i < n; i++)
			have ^= (have << i) + sink;
		sink = have & 0xff;
		leaf(d + 1, have & 7);
		if (n == 7)
			longjmp(jb, 1);
	} while (--n > 1);
}

#define JOIN(d, n) (expect(d, "join"), join(d, n))

NOINLINE static void twice(int d, int n)
{
	expect(d, "twice");
	JOIN(d + 1, n);
	leaf(d + 1, 1);
	JOIN(d + 1, 1);
	JOIN(d + 1, n + 1);
	leaf(d + 1, 2);
}

NOINLINE static void deeper(int d, int n)
{
	expect(d, "deeper");
	twice(d + 1, n);
	if (n > 1)
		deeper(d + 1, n - 1);
	JOIN(d + 1, n);
	leaf(d + 1, 3);
}

int main(void)
{
	volatile int i;

	expect(0, "main");
	deeper(1, 4);
	for (i = 0; i < 3; i = i + 1) {
		if (!setjmp(jb))
			JOIN(1, i & 1 ? 7 : 9);
		else
			leaf(1, 4);
	}
	JOIN(1, 3);
	leaf(1, 5);
	return 0;
}
