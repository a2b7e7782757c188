/* SPDX-License-Identifier: MIT
 *
 * Two threads' alternate stacks side by side, below a coroutine's stack of
 * each; set before the first call, by the bare system call; a handler that
 * forks, and its child, which has its parent's.
 */
#include "expect.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { N = 2, ALT = 1 << 15, STACK = 1 << 17, ROUNDS = 3 };

static struct {
	char alt[N][ALT], co[N][STACK];
} memory;

static pthread_barrier_t barrier;

/* Each thread's own. */
static __thread struct {
	ucontext_t context, back;
	const char *stack, *alt;
	char co[16], alt_name[16];
	int depth;
} me;

NOINLINE static void note(int d)
{
	expect_on(me.stack, d, "note");
}

static int compare(const void *a, const void *b)
{
	expect_on(me.stack, me.depth, "compare");
	return *(const int *)a - *(const int *)b;
}

QUIET static void sort(int d)
{
	int numbers[] = {2, 1};

	me.depth = d;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
}

static void on_hooked(int sig)
{
	const char *before = me.stack;

	(void)sig;
	me.stack = me.alt_name;
	expect_on(me.stack, 0, "on_hooked");
	pthread_barrier_wait(&barrier);
	sort(1);
	note(1);
	me.stack = before;
}

QUIET static void on_quiet(int sig)
{
	const char *before = me.stack;

	(void)sig;
	me.stack = me.alt_name;
	note(0);
	pthread_barrier_wait(&barrier);
	sort(0);
	me.stack = before;
}

NOINLINE static void work(int d, int n)
{
	expect_on(me.stack, d, "work");
	if (n)
		work(d + 1, n - 1);
	raise(SIGUSR1);
	sort(d + 1);
	raise(SIGUSR2);
	note(d + 1);
}

static void body(void)
{
	expect_on(me.stack, 0, "body");
	for (;;) {
		work(1, 1);
		swapcontext(&me.context, &me.back);
	}
}

QUIET static void resume(void)
{
	me.stack = me.co;
	swapcontext(&me.back, &me.context);
	me.stack = "";
}

QUIET static void set_up(long i)
{
	stack_t own = {.ss_sp = memory.alt[i], .ss_size = ALT};

	me.stack = "";
	snprintf(me.co, sizeof(me.co), "co%ld", i);
	snprintf(me.alt_name, sizeof(me.alt_name), "alt%ld", i);
	syscall(SYS_sigaltstack, &own, NULL);
	getcontext(&me.context);
	me.context.uc_stack.ss_sp = memory.co[i];
	me.context.uc_stack.ss_size = STACK;
	me.context.uc_link = NULL;
	makecontext(&me.context, body, 0);
}

NOINLINE static void rounds(int d)
{
	expect_on(me.stack, d, "rounds");
	for (int i = 0; i < ROUNDS; i++) {
		resume();
		work(d + 1, 2);
	}
}

QUIET static void *start(void *arg)
{
	set_up((long)arg);
	rounds(0);
	return NULL;
}

/* ---- a handler that forks ------------------------------------------------ */

static void child(int d)
{
	expect_on(me.stack, d, "child");
	sort(d + 1);
}

static void on_fork(int sig)
{
	const char *before = me.stack;
	pid_t pid;

	(void)sig;
	me.stack = me.alt_name;
	expect_on(me.stack, 0, "on_fork");
	pid = fork();
	if (pid) {
		waitpid(pid, NULL, 0);
	} else {
		expect(0, "main");
		expect(1, "forks");
		expect_on(me.stack, 0, "on_fork");
	}
	child(1);
	me.stack = before;
}

NOINLINE static void forks(int d)
{
	expect(d, "forks");
	raise(SIGHUP);
	sort(d + 1);
	note(d + 1);
}

static const struct {
	int sig;
	void (*handler)(int);
} handlers[] = {{SIGUSR1, on_hooked}, {SIGUSR2, on_quiet}, {SIGHUP, on_fork}};

QUIET static void set_handlers(void)
{
	struct sigaction a = {.sa_flags = SA_ONSTACK | SA_NODEFER};

	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		a.sa_handler = handlers[i].handler;
		sigaction(handlers[i].sig, &a, NULL);
	}
}

int main(void)
{
	pthread_t threads[N];

	me.stack = "";
	expect(0, "main");
	set_handlers();
	pthread_barrier_init(&barrier, NULL, N);
	for (long i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, start, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	set_up(0);
	sigaltstack(&(stack_t){.ss_sp = memory.alt[1], .ss_size = ALT}, NULL);
	strcpy(me.alt_name, "alt2");
	forks(1);
	return 0;
}
