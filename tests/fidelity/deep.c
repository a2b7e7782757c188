/* SPDX-License-Identifier: MIT
 *
 * A million calls deep, then longjmp out of the lot, then again.
 */
#include "expect.h"
#include <setjmp.h>

enum { DEPTH = 1000000 };

static jmp_buf jb;

NOINLINE static int down(int n, int jump)
{
	if (n == 0 && jump)
		longjmp(jb, 1);
	return n ? down(n - 1, jump) + 1 : 0;
}

NOINLINE static void both(void)
{
	volatile int n = down(DEPTH - 1, 0);

	if (n == DEPTH - 1 && !setjmp(jb))
		down(DEPTH - 1, 1);
}

int main(void)
{
	char line[64], *p = stpcpy(line, "counts main 1 both 1 down ");

	both();
	p = expect_number(p, 2L * DEPTH);
	p[-1] = '\n';
	return write(9, line, (size_t)(p - line)) < 0;
}
