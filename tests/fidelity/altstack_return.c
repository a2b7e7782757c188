/* SPDX-License-Identifier: MIT
 *
 * A handler on an alternate stack returns to a thread's own stack or to a
 * coroutine, and what follows there is no plain call: an inlined one, a
 * callback, another handler, a jump, a fork.
 */
#include "expect.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { STACK = 1 << 18, FAR = 1 << 22 };

static char alt[FAR + STACK], *const memory = alt + FAR;
static ucontext_t main_context, co_context;
static const char *stack = "";
static jmp_buf env;
static int depth, can_fork;

NOINLINE static void note(int d)
{
	expect_on(stack, d, "note");
}

static void on_alt(int sig)
{
	const char *interrupted = stack;

	(void)sig;
	stack = "alt";
	expect_on(stack, 0, "on_alt");
	note(1);
	stack = interrupted;
}

/* To a coroutine's middle. */
static void on_jump(int sig)
{
	const char *interrupted = stack;

	(void)sig;
	stack = "alt";
	expect_on(stack, 0, "on_jump");
	stack = interrupted;
	longjmp(env, 1);
}

static void on_same(int sig)
{
	(void)sig;
	expect_on(stack, depth, "on_same");
	note(depth + 1);
}

static int compare(const void *a, const void *b)
{
	expect_on(stack, depth, "compare");
	return *(const int *)a - *(const int *)b;
}

static inline __attribute__((always_inline)) void inlined(int d)
{
	expect_on(stack, d, "inlined");
	note(d + 1);
}

NOINLINE static void leave(int d)
{
	expect_on(stack, d, "leave");
	raise(SIGUSR2);
	longjmp(env, 1);
}

NOINLINE static void dive(int d, int n)
{
	expect_on(stack, d, "dive");
	if (n)
		dive(d + 1, n - 1);
	else
		raise(SIGWINCH);
	note(d + 1);
}

QUIET static void child(int d)
{
	pid_t pid;

	if (!can_fork)
		return;
	raise(SIGUSR2);
	pid = fork();
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	expect(0, "main");
	expect(1, "work");
	note(d + 1);
	_exit(0);
}

NOINLINE static void work(int d)
{
	int numbers[] = {2, 1};

	expect_on(stack, d, "work");
	depth = d + 1;
	raise(SIGUSR2);
	inlined(d + 1);
	raise(SIGUSR2);
	raise(SIGUSR1);
	raise(SIGUSR2);
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	raise(SIGUSR2);
	if (!setjmp(env))
		leave(d + 1);
	raise(SIGUSR1);
	if (!setjmp(env))
		dive(d + 1, 3);
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	child(d);
	note(d + 1);
}

static void body(void)
{
	expect_on(stack, 0, "body");
	work(1);
	raise(SIGUSR2);
	swapcontext(&co_context, &main_context);
	work(1);
	raise(SIGUSR2);
}

QUIET static void resume(void)
{
	stack = "co";
	swapcontext(&main_context, &co_context);
	stack = "";
}

int main(void)
{
	stack_t own = {.ss_sp = alt, .ss_size = STACK};
	struct sigaction same = {.sa_handler = on_same},
			 other = {.sa_handler = on_alt, .sa_flags = SA_ONSTACK},
			 jumps = {.sa_handler = on_jump,
				  .sa_flags = SA_ONSTACK | SA_NODEFER};

	expect(0, "main");
	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &same, NULL);
	sigaction(SIGUSR2, &other, NULL);
	sigaction(SIGWINCH, &jumps, NULL);
	getcontext(&co_context);
	co_context.uc_stack.ss_sp = memory;
	co_context.uc_stack.ss_size = STACK;
	co_context.uc_link = &main_context;
	makecontext(&co_context, body, 0);
	resume();
	work(1);
	resume();
	can_fork = 1;
	work(1);
	return 0;
}
