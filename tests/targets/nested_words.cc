/* SPDX-License-Identifier: MIT
 *
 * Spans among calls where their nesting is hard to see: inlined calls, frames
 * that exceptions and longjmp leave, recursion, a signal handler.
 */
#include <cstrace/cstrace.h>
#include <csetjmp>
#include <csignal>
#include <stdexcept>

static volatile int sink;

static inline __attribute__((always_inline)) void inlined(int n)
{
	sink = n;
}

static __attribute__((noinline)) void leaf(int n)
{
	sink = n;
}

static __attribute__((noinline)) void fail()
{
	CSTRACE_SPAN("failing");
	leaf(1);
	throw std::runtime_error("no");
}

static __attribute__((noinline)) void catcher()
{
	CSTRACE_SPAN("around");
	try {
		CSTRACE_SPAN("trying");
		fail();
	} catch (const std::exception &) {
		leaf(2);
	}
	inlined(3);
	leaf(4);
}

static jmp_buf back;

static __attribute__((noinline)) void jumper()
{
	CSTRACE_BEGIN(span, "left");
	leaf(5);
	longjmp(back, 1);
	CSTRACE_END(span);
}

static __attribute__((noinline)) void jumps()
{
	CSTRACE_SPAN("rounds");
	for (volatile int i = 0; i < 2; i++)
		if (!setjmp(back))
			jumper();
	leaf(6);
}

static __attribute__((noinline)) void down(int n)
{
	CSTRACE_SPAN("down", "n", n);
	inlined(n);
	if (n)
		down(n - 1);
	cstrace_log("up %d", n);
}

static void handler(int number)
{
	CSTRACE_SPAN("handler", "signal", number);
	leaf(7);
}

int main()
{
	catcher();
	jumps();
	down(2);
	signal(SIGUSR1, handler);
	{
		CSTRACE_SPAN("raising");
		raise(SIGUSR1);
		leaf(8);
	}
	return 0;
}
