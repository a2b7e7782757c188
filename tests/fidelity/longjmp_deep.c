/* SPDX-License-Identifier: MIT
 *
 * longjmp out of recursion, nested setjmps, and siglongjmp out of a handler.
 */
#include "expect.h"
#include <setjmp.h>
#include <signal.h>

static jmp_buf outer, inner;
static sigjmp_buf from_handler;

NOINLINE static void dive(int d, int n, jmp_buf jb)
{
	expect(d, "dive");
	if (n == 0)
		longjmp(jb, 1);
	dive(d + 1, n - 1, jb);
	expect(d + 1, "never");
}

NOINLINE static void after(int d)
{
	expect(d, "after");
}

NOINLINE static void nested(int d, int to_outer)
{
	expect(d, "nested");
	if (!setjmp(inner))
		dive(d + 1, 3, to_outer ? outer : inner);
	else
		after(d + 1);
}

NOINLINE static void handler(int sig)
{
	expect(2, "handler");
	after(3);
	siglongjmp(from_handler, sig);
}

NOINLINE static void trouble(int d)
{
	expect(d, "trouble");
	raise(SIGUSR1);
}

int main(void)
{
	volatile int i;

	expect(0, "main");
	signal(SIGUSR1, handler);
	for (i = 0; i < 10; i = i + 1) {
		if (!setjmp(outer))
			nested(1, i & 1);
		else
			after(1);
		after(1);
	}
	for (i = 0; i < 5; i = i + 1) {
		if (!sigsetjmp(from_handler, 1))
			trouble(1);
		else
			after(1);
	}
	return 0;
}
