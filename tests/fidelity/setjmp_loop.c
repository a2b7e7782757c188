/* SPDX-License-Identifier: MIT
 *
 * for (;;) if (!setjmp(jb)) parse(); else recover(); stays at its depth.
 */
#include "expect.h"
#include <setjmp.h>

static jmp_buf jb;

NOINLINE static void fail(int d, int n)
{
	expect(d, "fail");
	if (n & 1)
		longjmp(jb, 1);
}

NOINLINE static void parse_more(int d, int n)
{
	expect(d, "parse_more");
	fail(d + 1, n);
	fail(d + 1, n + 1);
}

NOINLINE static void parse(int d, int n)
{
	expect(d, "parse");
	parse_more(d + 1, n);
}

NOINLINE static void parse_other(int d, int n, long a, long b, long c, long e,
				 long f, long g, long h)
{
	expect(d, "parse_other");
	if (a + b + c + e + f + g + h > 0)
		parse_more(d + 1, n);
}

NOINLINE static void recover(int d)
{
	expect(d, "recover");
}

int main(void)
{
	volatile int n = 0;

	expect(0, "main");
	while (n < 100) {
		n = n + 1;
		if (setjmp(jb))
			recover(1);
		else if (n % 3)
			parse(1, n);
		else /* a sibling with a larger frame */
			parse_other(1, n, 1, 2, 3, 4, 5, 6, 7);
	}
	return 0;
}
