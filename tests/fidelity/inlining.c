/* SPDX-License-Identifier: MIT
 *
 * Inlined instrumented functions, recursion, tail calls and siblings.
 */
#include "expect.h"
#include <setjmp.h>

#ifndef NO_JUMP
#define NO_JUMP 0
#endif

static jmp_buf jb;
static volatile int sink;

static inline __attribute__((always_inline)) void small(int d)
{
	expect(d, "small");
	sink++;
}

static inline __attribute__((always_inline)) void medium(int d)
{
	expect(d, "medium");
	small(d + 1);
	small(d + 1);
}

NOINLINE static void physical(int d)
{
	expect(d, "physical");
	small(d + 1);
	medium(d + 1);
	small(d + 1);
}

static inline __attribute__((always_inline)) void jumps(int d, int jump)
{
	expect(d, "jumps");
	small(d + 1);
	if (jump && !NO_JUMP)
		longjmp(jb, 1);
}

static int even(int d, int n);

NOINLINE static int odd(int d, int n)
{
	expect(d, "odd");
	return n == 0 ? 0 : even(d + 1, n - 1);
}

NOINLINE static int even(int d, int n)
{
	expect(d, "even");
	return n == 0 ? 1 : odd(d + 1, n - 1);
}

static int fib(int d, int n)
{
	expect(d, "fib");
	return n < 2 ? n : fib(d + 1, n - 1) + fib(d + 1, n - 2);
}

int main(void)
{
	volatile int i;

	expect(0, "main");
	physical(1);
	sink += even(1, 7);
	sink += fib(1, 7);
	for (i = 0; i < 6; i = i + 1) {
		if (!setjmp(jb))
			jumps(1, i & 1);
		else
			small(1);
	}
	physical(1);
	return 0;
}
