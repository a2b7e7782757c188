// SPDX-License-Identifier: MIT
//
// C++20 coroutines: they have no stack, their caller is what resumes them:
// another function than the one that made it, a handler, another thread.  Left
// by exceptions and by longjmp, destroyed unfinished.  With clang what is
// resumed makes no call of its own, only those in it do.
#ifdef __clang__
#define __cpp_impl_coroutine 201902L // libstdc++ asks for it
#endif
#include "expect.h"
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <exception>
#include <thread>

#ifdef __clang__
enum { N_CALLS = 0 };
#else
enum { N_CALLS = 1 };
#endif
#define INLINED static inline __attribute__((always_inline))

// The depth of what resumes, and of calls in between.
static int outside, between = N_CALLS;
static const char *actor; // as gcc names the function that is resumed

QUIET static int inside()
{
	return outside + between + 1;
}

NOINLINE static void leaf(int d)
{
	expect(d, "leaf(int)");
}

INLINED void inlined(int d)
{
	expect(d, "inlined(int)");
	leaf(d + 1);
}

INLINED void suspended(int d)
{
	expect(d, "suspended(int)");
}

QUIET static void expect_actor(int d)
{
	if (N_CALLS)
		expect(d, actor);
}

struct Guard {
	NOINLINE ~Guard()
	{
		expect(inside(), "Guard::~Guard()");
		inlined(inside() + 1);
	}
};

struct Wait {
	QUIET bool await_ready()
	{
		return false;
	}
	QUIET void await_suspend(std::coroutine_handle<>)
	{
		suspended(inside());
	}
	QUIET void await_resume()
	{
		expect_actor(outside + 1);
	}
};

struct Task {
	struct promise_type {
		std::exception_ptr thrown;

		QUIET promise_type()
		{
		}
		QUIET ~promise_type()
		{
		}
		QUIET Task get_return_object()
		{
			return {std::coroutine_handle<
				promise_type>::from_promise(*this)};
		}
		QUIET std::suspend_never initial_suspend()
		{
			expect_actor(outside + 1);
			return {};
		}
		QUIET std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		QUIET void unhandled_exception()
		{
			thrown = std::current_exception();
		}
		QUIET void return_void()
		{
		}
	};
	std::coroutine_handle<> handle;
};

// Nothing comes after a wait but the next.
struct Endless : Task {
	struct promise_type : Task::promise_type {
		QUIET promise_type()
		{
		}
		QUIET ~promise_type()
		{
		}
		QUIET Endless get_return_object()
		{
			return {{std::coroutine_handle<
				promise_type>::from_promise(*this)}};
		}
		QUIET void unhandled_exception()
		{
			abort();
		}
	};
};

NOINLINE static void thrower(int d, int n)
{
	expect(d, "thrower(int, int)");
	if (!n)
		throw n;
	thrower(d + 1, n - 1);
}

// Exceptions within it, and one that leaves it.
NOINLINE Task throws(int n)
{
	Guard guard;

	for (int i = 0; i < n; i++) {
		co_await Wait();
		inlined(inside());
		try {
			thrower(inside(), i);
		} catch (int) {
			leaf(inside());
		}
	}
	co_await Wait();
	thrower(inside(), n);
}

static jmp_buf back;

NOINLINE static void jumper(int d, int n)
{
	expect(d, "jumper(int, int)");
	if (!n)
		longjmp(back, 1);
	jumper(d + 1, n - 1);
}

NOINLINE Endless jumps(int n)
{
	leaf(inside());
	for (;;) {
		co_await Wait();
		inlined(inside());
		if (!n--)
			jumper(inside(), 2);
	}
}

QUIET static void begin(int d, const char *name, const char *its_actor)
{
	expect(d + 1, name);
	outside = d + 1;
	actor = its_actor;
}

NOINLINE static void resume(int d, Task task)
{
	expect(d, "resume(int, Task)");
	outside = d;
	inlined(d + 1);
	task.handle.resume();
	inlined(d + 1);
}

static Task handled;

static void handler(int)
{
	int d = outside + 1;

	expect(d, "handler(int)");
	resume(d + 1, handled);
	leaf(d + 1);
	outside = d - 1;
}

NOINLINE static void throwing(int d, int n, int limit)
{
	expect(d, "throwing(int, int, int)");
	begin(d, "throws(int)",
	      "throws(throws(int)::_Z6throwsi.Frame*) "
	      "[clone .actor]");
	Task task = throws(n);
	for (int i = 0; i < limit && !task.handle.done(); i++) {
		outside = d;
		handled = task;
		if (i % 3 == 0)
			resume(d + 1, task);
		else if (i % 3 == 1)
			raise(SIGUSR1);
		else
			std::thread(resume, 0, task).join();
	}
	leaf(d + 1);
	outside = d;
}

NOINLINE static void jumping(int d, int n)
{
	expect(d, "jumping(int, int)");
	begin(d, "jumps(int)",
	      "jumps(jumps(int)::_Z5jumpsi.Frame*) "
	      "[clone .actor]");
	Task task = jumps(n);
	if (!setjmp(back))
		for (;;)
			resume(d + 1, task);
	inlined(d + 1);
	leaf(d + 1);
}

NOINLINE static void destroying(int d, int n)
{
	expect(d, "destroying(int, int)");
	begin(d, "throws(int)",
	      "throws(throws(int)::_Z6throwsi.Frame*) "
	      "[clone .actor]");
	Task task = throws(n);
	resume(d + 1, task);
	leaf(d + 1);
	outside = d;
	if (N_CALLS) {
		expect(d + 1, "throws(throws(int)::_Z6throwsi.Frame*) "
			      "[clone .destroy]");
		expect_actor(d + 2);
	}
	between = 2 * N_CALLS;
	task.handle.destroy();
	between = N_CALLS;
	leaf(d + 1);
}

int main()
{
	expect(0, "main");
	signal(SIGUSR1, handler);
	for (int i = 0; i < 4; i++) {
		throwing(1, i, 100);
		jumping(1, i);
		destroying(1, i + 1);
		leaf(1);
	}
}
