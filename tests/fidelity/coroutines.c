/* SPDX-License-Identifier: MIT
 *
 * Coroutines by swapcontext, their stacks side by side in one array, resumed
 * in turn; each stack is a lane of its own.  Its outermost call has others
 * inlined.
 */
#include "expect.h"
#include <ucontext.h>

enum { N = 3, ROUNDS = 4, STACK = 65536 };

static ucontext_t main_context, contexts[N];
static char stacks[N][STACK] __attribute__((aligned(4096)));
static const char *const names[N] = {"co0", "co1", "co2"};

NOINLINE static void leaf(const char *s, int d)
{
	expect_on(s, d, "leaf");
}

NOINLINE static void pause_here(const char *s, int d, int i)
{
	expect_on(s, d, "pause_here");
	leaf(s, d + 1);
	swapcontext(&contexts[i], &main_context);
	leaf(s, d + 1);
}

NOINLINE static void inner(const char *s, int d, int i, int n)
{
	expect_on(s, d, "inner");
	if (n)
		inner(s, d + 1, i, n - 1);
	else
		pause_here(s, d + 1, i);
	pause_here(s, d + 1, i);
}

static inline __attribute__((always_inline)) void count(int i)
{
	expect_on(names[i], 1, "count");
	leaf(names[i], 2);
}

static void body(int i)
{
	expect_on(names[i], 0, "body");
	count(i);
	inner(names[i], 1, i, i);
	for (;;) {
		count(i);
		pause_here(names[i], 1, i);
	}
}

NOINLINE static void resume(int d, int i)
{
	expect(d, "resume");
	swapcontext(&main_context, &contexts[i]);
	leaf("", d + 1);
}

int main(void)
{
	expect(0, "main");
	for (int i = 0; i < N; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK;
		makecontext(&contexts[i], (void (*)(void))body, 1, i);
	}
	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < N; i++)
			resume(1, i);
		leaf("", 1);
	}
	return 0;
}
