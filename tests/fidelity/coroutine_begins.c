/* SPDX-License-Identifier: MIT
 *
 * A coroutine begins in the function that lies just behind the one that starts
 * it, on a stack just below.
 */
#include "expect.h"
#include <ucontext.h>

enum { STACK = 1 << 18 };

#ifdef __clang__
#define IN_ORDER __attribute__((section(".text.in_order"), aligned(1)))
#else
#define IN_ORDER \
	__attribute__((section(".text.in_order"), aligned(1), no_reorder))
#endif

static char memory[2 * STACK];
static ucontext_t main_context, first_context, second_context;

NOINLINE static void note(const char *stack, int d)
{
	expect_on(stack, d, "note");
}

QUIET static NOINLINE void run_second(void)
{
	swapcontext(&first_context, &second_context);
}

static inline __attribute__((always_inline)) void inlined(int d)
{
	expect_on("first", d, "inlined");
	note("first", d + 1);
	run_second();
	note("first", d + 1);
}

IN_ORDER static void first(void)
{
	expect_on("first", 0, "first");
	inlined(1);
	note("first", 1);
}

IN_ORDER static void second(void)
{
	expect_on("second", 0, "second");
	note("second", 1);
}

QUIET static void make(ucontext_t *context, void (*body)(void), char *stack,
		       ucontext_t *next)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK;
	context->uc_link = next;
	makecontext(context, body, 0);
}

int main(void)
{
	expect(0, "main");
	make(&first_context, first, memory + STACK, &main_context);
	make(&second_context, second, memory, &first_context);
	swapcontext(&main_context, &first_context);
	note("", 1);
	return 0;
}
