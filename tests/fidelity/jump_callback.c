/* SPDX-License-Identifier: MIT
 *
 * What runs first after a longjmp is called back by code without hooks, from
 * below the frames that were left: nothing but the jump says that they were.
 */
#include "expect.h"
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>

static char low[65536];
static sigjmp_buf env;
static volatile int depth, leaves;

static int compare(const void *a, const void *b)
{
	expect(depth, "compare");
	if (leaves)
		siglongjmp(env, 1);
	return *(const int *)a - *(const int *)b;
}

QUIET static void sort(int d)
{
	int numbers[] = {3, 1, 2};

	depth = d;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
}

NOINLINE static void fail(int d)
{
	expect(d, "fail");
	siglongjmp(env, 1);
}

NOINLINE static void dive(int d, int n, int sig)
{
	volatile char room[512];

	room[0] = 0;
	expect(d, "dive");
	if (n)
		dive(d + 1, n - 1, sig);
	else if (sig)
		raise(sig);
	else
		fail(d + 1);
	room[1] = 1;
}

QUIET static void handler(int sig)
{
	(void)sig;
	siglongjmp(env, 1);
}

/* From deep down, by a handler on the same stack, on one of its own. */
NOINLINE static void by(int d, int sig)
{
	expect(d, "by");
	for (volatile int i = 0; i < 5; i++) {
		if (!sigsetjmp(env, 1))
			dive(d + 1, 3 + i, sig);
		else
			sort(d + 1);
	}
}

/* Out of what was called back itself. */
NOINLINE static void out(int d)
{
	expect(d, "out");
	for (volatile int i = 0; i < 5; i++) {
		leaves = 1;
		if (!_setjmp(env))
			sort(d + 1);
		leaves = 0;
		sort(d + 1);
	}
}

static inline __attribute__((always_inline)) void inner(int d)
{
	expect(d, "inner");
	sort(d + 1);
	fail(d + 1);
}

static inline __attribute__((always_inline)) void outer(int d)
{
	expect(d, "outer");
	inner(d + 1);
}

NOINLINE static void calm(int d)
{
	expect(d, "calm");
}

/* Inlined calls are left, in the very frame that is jumped to; then one that is
 * not left goes on. */
NOINLINE static void inlined(int d)
{
	expect(d, "inlined");
	for (volatile int i = 0; i < 5; i++) {
		if (!sigsetjmp(env, 1))
			outer(d + 1);
		calm(d + 1);
		sort(d + 1);
	}
}

/* The frame that is left has its CFA in memory. */
NOINLINE static void fail_aligned(int d)
{
	volatile char wide[64] __attribute__((aligned(64)));
	volatile char *room = alloca(16 * (size_t)d);

	wide[0] = room[0] = 0;
	expect(d, "fail_aligned");
	siglongjmp(env, 1);
}

static inline __attribute__((always_inline)) void inner_aligned(int d)
{
	expect(d, "inner_aligned");
	fail_aligned(d + 1);
}

NOINLINE static void aligned(int d)
{
	expect(d, "aligned");
	for (volatile int i = 0; i < 5; i++) {
		if (!sigsetjmp(env, 1))
			inner_aligned(d + 1);
		calm(d + 1);
	}
}

/* With a function of libc's inlined between, where it has one. */
static inline __attribute__((always_inline)) void seek(int d)
{
	int numbers[] = {1, 2, 3}, *found;

	expect(d, "seek");
	depth = d + 1;
	leaves = 1;
	found = bsearch(numbers, numbers, 3, sizeof(numbers[0]), compare);
	depth = !!found;
}

NOINLINE static void out_of_search(int d)
{
	expect(d, "out_of_search");
	for (volatile int i = 0; i < 5; i++) {
		if (_setjmp(env))
			leaves = 0;
		else
			seek(d + 1);
		if (i & 1)
			calm(d + 1);
		else
			sort(d + 1);
	}
}

static inline __attribute__((always_inline)) void hop(int d)
{
	volatile char room[8192];

	room[0] = 0;
	expect(d, "hop");
	sort(d + 1);
	longjmp(env, 1);
}

/* The jump stays in the innermost frame, which is large. */
NOINLINE static void within(int d)
{
	expect(d, "within");
	for (volatile int i = 0; i < 5; i++) {
		if (!_setjmp(env))
			hop(d + 1);
		calm(d + 1);
		sort(d + 1);
	}
}

NOINLINE static void thrice(int d, int n)
{
	expect(d, "thrice");
	if (n)
		thrice(d + 1, n - 1);
	by(d + 1, 0);
}

int main(void)
{
	stack_t alt = {.ss_sp = low, .ss_size = sizeof(low)};
	struct sigaction own = {.sa_handler = handler},
			 other = {.sa_handler = handler,
				  .sa_flags = SA_ONSTACK};

	expect(0, "main");
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &own, NULL);
	sigaction(SIGUSR2, &other, NULL);
	thrice(1, 2);
	by(1, SIGUSR1);
	by(1, SIGUSR2);
	out(1);
	out_of_search(1);
	inlined(1);
	aligned(1);
	within(1);
	return 0;
}
