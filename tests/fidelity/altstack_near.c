/* SPDX-License-Identifier: MIT
 *
 * Alternate stacks in main's own frame, or between coroutines' stacks in one
 * array, or from malloc: handlers with and without hooks, nested, left by a
 * jump, by a switch to a coroutine and back, on a stack that was changed; and
 * coroutines on memory that was an alternate stack.
 */
#include "expect.h"
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#define IN_ARRAY 0
#define IN_FRAME 1
#define ON_HEAP 2
#ifndef PLACE
#define PLACE IN_ARRAY
#endif

enum { ALT = 1 << 15, STACK = 1 << 17 };

struct memory {
	char side[STACK], alt[ALT], co[STACK], other[ALT];
};

static ucontext_t main_context, co_context, side_context, handler_context;
static const char *stack = "", *alt = "alt";
static jmp_buf env;
static int depth;

NOINLINE static void note(int d)
{
	expect_on(stack, d, "note");
}

NOINLINE static void chain(int d, int n)
{
	expect_on(stack, d, "chain");
	if (n)
		chain(d + 1, n - 1);
	note(d + 1);
}

static int compare(const void *a, const void *b)
{
	expect_on(stack, depth, "compare");
	return *(const int *)a - *(const int *)b;
}

QUIET static void sort(int d)
{
	int numbers[] = {2, 1}, before = depth;

	depth = d;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	depth = before;
}

static inline __attribute__((always_inline)) void inlined(int d)
{
	expect_on(stack, d, "inlined");
	note(d + 1);
}

/* ---- handlers ------------------------------------------------------------ */

static void on_hooked(int sig)
{
	const char *before = stack;
	int d = before == alt ? depth : 0;

	(void)sig;
	stack = alt;
	expect_on(alt, d, "on_hooked");
	chain(d + 1, 2);
	sort(d + 1);
	stack = before;
}

QUIET static void on_quiet(int sig)
{
	const char *before = stack;
	volatile char room[4000];

	(void)sig;
	room[0] = 0;
	stack = alt;
	note(0);
	inlined(0);
	chain(room[0], 1);
	sort(0);
	stack = before;
}

static void on_nested(int sig)
{
	const char *before = stack;

	(void)sig;
	stack = alt;
	expect_on(alt, 0, "on_nested");
	depth = 1;
	raise(SIGUSR1);
	note(1);
	raise(SIGUSR1);
	stack = before;
}

static void on_leap(int sig)
{
	(void)sig;
	stack = alt;
	expect_on(alt, 0, "on_leap");
	note(1);
	longjmp(env, 1);
}

QUIET static void on_quiet_leap(int sig)
{
	(void)sig;
	stack = alt;
	note(0);
	longjmp(env, 1);
}

/* To a coroutine and back. */
static void on_switch(int sig)
{
	const char *before = stack;

	(void)sig;
	stack = alt;
	expect_on(alt, 0, "on_switch");
	note(1);
	stack = "side";
	swapcontext(&handler_context, &side_context);
	stack = alt;
	sort(1);
	note(1);
	stack = before;
}

static const struct {
	int sig;
	void (*handler)(int);
} handlers[] = {{SIGUSR1, on_hooked}, {SIGUSR2, on_quiet},
		{SIGHUP, on_nested},  {SIGWINCH, on_leap},
		{SIGURG, on_switch},  {SIGCONT, on_quiet_leap}};

QUIET static void set_handlers(void)
{
	struct sigaction a = {.sa_flags = SA_ONSTACK | SA_NODEFER};

	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		a.sa_handler = handlers[i].handler;
		sigaction(handlers[i].sig, &a, NULL);
	}
}

/* ---- what is interrupted ------------------------------------------------- */

NOINLINE static void strike(int d, int sig)
{
	expect_on(stack, d, "strike");
	raise(sig);
	sort(d + 1);
	raise(sig);
	note(d + 1);
}

NOINLINE static void dive(int d, int n, int sig)
{
	expect_on(stack, d, "dive");
	if (n)
		dive(d + 1, n - 1, sig);
	else
		raise(sig);
	note(d + 1);
}

NOINLINE static void be_left(int d, int sig)
{
	const char *volatile here = stack;

	expect_on(stack, d, "be_left");
	if (!setjmp(env))
		dive(d + 1, 3, sig);
	stack = here;
	sort(d + 1);
	if (!setjmp(env))
		raise(sig);
	stack = here;
	inlined(d + 1);
	raise(SIGUSR1);
	note(d + 1);
}

NOINLINE static void work(int d)
{
	expect_on(stack, d, "work");
	strike(d + 1, SIGUSR1);
	strike(d + 1, SIGUSR2);
	raise(SIGUSR2);
	inlined(d + 1);
	strike(d + 1, SIGHUP);
	be_left(d + 1, SIGWINCH);
	strike(d + 1, SIGURG);
	be_left(d + 1, SIGCONT);
	raise(SIGURG);
	sort(d + 1);
	note(d + 1);
}

/* ---- coroutines ---------------------------------------------------------- */

static void body(void)
{
	expect_on(stack, 0, "body");
	work(1);
	swapcontext(&co_context, &main_context);
	work(1);
}

static void side(void)
{
	expect_on(stack, 0, "side");
	for (;;) {
		chain(1, 1);
		sort(1);
		swapcontext(&side_context, &handler_context);
	}
}

QUIET static void quiet(void)
{
	chain(0, 1);
	swapcontext(&co_context, &main_context);
	raise(SIGUSR1);
	chain(0, 2);
	__asm__ volatile(""); /* no tail call */
}

QUIET static void make(ucontext_t *context, void (*function)(void),
		       char *memory, size_t size)
{
	getcontext(context);
	context->uc_stack.ss_sp = memory;
	context->uc_stack.ss_size = size;
	context->uc_link = &main_context;
	makecontext(context, function, 0);
}

QUIET static void resume(const char *name)
{
	stack = name;
	swapcontext(&main_context, &co_context);
	stack = "";
}

QUIET static void use(char *memory, const char *name)
{
	stack_t wanted = {.ss_sp = memory,
			  .ss_size = ALT,
			  .ss_flags = memory ? 0 : SS_DISABLE};

	alt = name;
	sigaltstack(&wanted, NULL);
}

/* The first ones' memory is coroutines' now. */
QUIET static void use_again(struct memory *at)
{
	make(&co_context, body, at->alt, sizeof(at->alt));
	resume("second");
	note(1);
	resume("second");
	use(NULL, "none");
	make(&co_context, quiet, at->other, sizeof(at->other));
	resume("third");
	use(at->alt, "alt");
	note(1);
	resume("third");
}

int main(void)
{
	static struct memory all;
	struct memory *at = &all;
#if PLACE == IN_FRAME
	char alt_memory[ALT], other_memory[ALT];
#else
#if PLACE == ON_HEAP
	at = malloc(sizeof(*at));
#endif
	char *alt_memory = at->alt, *other_memory = at->other;
#endif

	expect(0, "main");
	set_handlers();
	make(&side_context, side, at->side, sizeof(at->side));
	make(&co_context, body, at->co, sizeof(at->co));
	use(alt_memory, "alt");
	work(1);
	resume("co");
	use(other_memory, "other");
	work(1);
	resume("co");
	if (PLACE != IN_FRAME)
		use_again(at);
	use(alt_memory, "alt");
	work(1);
	return 0;
}
