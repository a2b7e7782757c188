/* SPDX-License-Identifier: MIT
 *
 * A function without hooks that calls itself, directly and by others, with a
 * hooked call inlined in it: the inner one's calls are within what the outer
 * one has open, and stay there after a jump, too.
 */
#include "expect.h"
#include <alloca.h>
#include <setjmp.h>

#ifndef ALIGNED
#define ALIGNED 8
#endif

static jmp_buf env;
static volatile int size = 1000;

static void quiet(int d, int n);

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

NOINLINE static void between(int d, int n)
{
	expect(d, "between");
	quiet(d + 1, n);
	leaf(d + 1);
}

static int compare(const void *a, const void *b)
{
	int n = *(const int *)a / 1000, d = *(const int *)a % 1000;

	(void)b;
	expect(d, "compare");
	quiet(d + 1, n);
	return 0;
}

static inline __attribute__((always_inline)) void inlined(int d, int n)
{
	int numbers[2] = {(n - 1) * 1000 + d + 1, (n - 1) * 1000 + d + 1};

	expect(d, "inlined");
	leaf(d + 1);
	if (n > 0 && n % 3 == 0)
		quiet(d + 1, n - 1);
	else if (n > 0 && n % 3 == 1)
		between(d + 1, n - 1);
	else if (n > 0)
		qsort(numbers, 2, sizeof(numbers[0]), compare);
	else if (d > 40)
		longjmp(env, 1);
	leaf(d + 1);
}

NOINLINE static void leave(int d, jmp_buf here)
{
	expect(d, "leave");
	longjmp(here, 1);
}

QUIET static NOINLINE void quiet(int d, int n)
{
	__attribute__((aligned(ALIGNED))) volatile char local[100];
	jmp_buf here;

	leaf(d);
	local[0] = (char)n;
	if (!setjmp(here))
		leave(d, here);
	if (n & 4)
		memset(alloca((size_t)size), 0, (size_t)size);
	inlined(d, n);
	leaf(d);
}

/* The calls that the jump leaves are of the inner ones; here goes on the
 * outermost. */
QUIET static NOINLINE void jumps(int n)
{
	if (!setjmp(env))
		inlined(1, n);
	else
		leaf(1);
	leaf(1);
	between(1, 2);
}

int main(void)
{
	expect(0, "main");
	quiet(1, 3);
	quiet(1, 9);
	between(1, 8);
	jumps(30);
	jumps(50);
	quiet(1, 4);
	return 0;
}
