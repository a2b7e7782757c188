/* SPDX-License-Identifier: MIT
 *
 * Coroutines that end, which libc tells nobody, and that are resumed in large
 * frames: what follows is a handler or a callback.  One resumes the other.
 */
#include "expect.h"
#include <signal.h>
#include <ucontext.h>

enum { N = 2, STACK = 1 << 18, FAR = 1 << 22 };

static char memory[N][FAR];
static ucontext_t callers[N], contexts[N];
static const char *const names[N] = {"co0", "co1"};
static const char *stack = "";
static int depth;

static void on_signal(int sig)
{
	(void)sig;
	expect_on(stack, depth, "on_signal");
}

static int compare(const void *a, const void *b)
{
	expect_on(stack, depth, "compare");
	return *(const int *)a - *(const int *)b;
}

QUIET static void call_back(int d)
{
	int numbers[] = {2, 1};

	depth = d;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	raise(SIGUSR1);
}

QUIET static void resume(int i)
{
	const char *was = stack;

	stack = names[i];
	swapcontext(&callers[i], &contexts[i]);
	stack = was;
}

NOINLINE static void wait_here(int d, int i)
{
	volatile char room[9000];

	room[0] = 0;
	expect_on(stack, d, "wait_here");
	swapcontext(&contexts[i], &callers[i]);
	call_back(d + 1);
	room[1] = 0;
}

static void body(int i)
{
	expect_on(stack, 0, "body");
	wait_here(1, i);
	if (i)
		return;
	resume(1);
	call_back(1);
	wait_here(1, i);
	resume(1);
	depth = 1;
	raise(SIGUSR1);
	wait_here(1, i);
}

NOINLINE static void step(int d)
{
	expect(d, "step");
	resume(0);
	call_back(d + 1);
}

int main(void)
{
	expect(0, "main");
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < N; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = memory[i];
		contexts[i].uc_stack.ss_size = STACK;
		contexts[i].uc_link = &callers[i];
		makecontext(&contexts[i], (void (*)(void))body, 1, i);
	}
	for (int i = 0; i < 4; i++)
		step(1);
	return 0;
}
