/* SPDX-License-Identifier: MIT
 *
 * A coroutine that is left in a span, and never resumed: two calls and a span
 * stay open.
 */
#include <stddef.h>
#include <ucontext.h>

#include "cstrace/cstrace.h"

static ucontext_t outside, inside;
static char stack[1 << 16];

static void leave(int n)
{
	CSTRACE_SPAN("load", "n", n);
	cstrace_log("in %d", n);
	swapcontext(&inside, &outside);
}

static void coroutine(void)
{
	leave(1);
}

int main(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	{
		CSTRACE_SPAN("rest");
	}
	return 0;
}
