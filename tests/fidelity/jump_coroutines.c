/* SPDX-License-Identifier: MIT
 *
 * Coroutines that are switched by _setjmp and _longjmp, as QEMU's are: a jump
 * to another stack leaves nothing, a jump within one does.
 */
#include "expect.h"
#include <setjmp.h>
#include <ucontext.h>

enum { N = 3, STACK = 65536 };

struct coroutine {
	jmp_buf here;
	ucontext_t first;
	const char *name;
	int is_over, has_begun;
};

static struct coroutine all[N] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
/* Side by side. */
static char stacks[N][STACK] __attribute__((aligned(64)));
static jmp_buf back __attribute__((unused));
static struct coroutine *now;
static int depth; /* of what is called back */

#if BY_CONTEXT

static ucontext_t main_context;

QUIET static NOINLINE void yield(void)
{
	swapcontext(&now->first, &main_context);
}

QUIET static NOINLINE void resume(struct coroutine *c)
{
	now = c;
	swapcontext(&main_context, &c->first);
}

QUIET static void end(void)
{
	setcontext(&main_context);
}

#else

QUIET static NOINLINE void yield(void)
{
	if (!_setjmp(now->here))
		_longjmp(back, 1);
}

QUIET static NOINLINE void resume(struct coroutine *c)
{
	now = c;
	if (_setjmp(back))
		return;
	if (c->has_begun)
		_longjmp(c->here, 1);
	c->has_begun = 1;
	setcontext(&c->first);
}

QUIET static void end(void)
{
	_longjmp(back, 1);
}

#endif

NOINLINE static void leave(int d, jmp_buf to)
{
	expect_on(now->name, d, "leave");
	yield();
	_longjmp(to, 1);
}

NOINLINE static int compare(const void *a, const void *b)
{
	expect_on(now->name, depth, "compare");
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void work(int d, int n)
{
	int numbers[] = {2, 1};

	expect_on(now->name, d, "work");
	yield();
	depth = d + 1;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	if (n)
		work(d + 1, n - 1);
	yield();
}

/* Its own jump, with others between. */
NOINLINE static void body(int d)
{
	jmp_buf own;
	int numbers[] = {2, 1};

	expect_on(now->name, d, "body");
	for (volatile int i = 0; i < 3; i++) {
		if (!_setjmp(own))
			leave(d + 1, own);
		else {
			depth = d + 1;
			qsort(numbers, 2, sizeof(numbers[0]), compare);
		}
		work(d + 1, i);
	}
}

QUIET static void begin(void)
{
	body(0);
	now->is_over = 1;
	end();
}

NOINLINE static void tend(int d)
{
	expect(d, "tend");
	for (int i = 0; i < N; i++)
		if (!all[i].is_over)
			resume(&all[i]);
}

int main(void)
{
	expect(0, "main");
	for (int i = 0; i < N; i++) {
		getcontext(&all[i].first);
		all[i].first.uc_stack.ss_sp = stacks[i];
		all[i].first.uc_stack.ss_size = STACK;
		makecontext(&all[i].first, begin, 0);
	}
	while (!all[0].is_over || !all[1].is_over || !all[2].is_over)
		tend(1);
	return 0;
}
