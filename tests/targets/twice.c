/* SPDX-License-Identifier: MIT
 *
 * Functions with hooks that say by cstrace.h that they are called.
 */
#include <cstrace/cstrace.h>
#include <setjmp.h>

static jmp_buf env;

static int fact(int n)
{
	CSTRACE_FUNCTION;
	return n < 2 ? 1 : n * fact(n - 1);
}

static inline int small(int n)
{
	CSTRACE_FUNCTION;
	return n + 1;
}

static void leaves(void)
{
	CSTRACE_FUNCTION;
	longjmp(env, 1);
}

static void nested(void)
{
	CSTRACE_FUNCTION;
	{
		CSTRACE_SPAN("inner", "n", 3);
		cstrace_log("hi");
		small(4);
	}
	if (!setjmp(env))
		leaves();
	small(5);
}

CSTRACE_FUNC(int, add, (int a, int b), (a, b), { return a + b; })

int main(void)
{
	CSTRACE_FUNCTION;
	fact(3);
	nested();
	add(1, 2);
	return small(1) - 2;
}
