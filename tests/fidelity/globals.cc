// SPDX-License-Identifier: MIT
//
// Global objects of the program, of a second file and of a library, local and
// thread-local statics, atexit; ended by return, by exit() from deep inside,
// by quick_exit(), _exit() or abort().
#include "parts/globals.h"
#include <cstdlib>
#include <thread>

#ifndef END
#define END return_from_main
#endif

void second_file(int d);
void other_library(int d);

int end_depth;
TELL_MAKER("_GLOBAL__sub_I_end_depth")
static Global first(BEGIN_DEPTH);
static thread_local Global *of_thread;

struct PerThread {
	NOINLINE PerThread()
	{
		expect(1, "PerThread::PerThread()");
	}
	NOINLINE ~PerThread()
	{
		expect(0, "PerThread::~PerThread()");
		Global::part(1);
	}
};

static void *thread(void *)
{
	expect(0, "thread(void*)");
	PerThread *volatile p;
	thread_local PerThread object;

	p = &object;
	(void)p;
	return nullptr;
}

static void handler()
{
	expect(end_depth, "handler()");
	Global::part(end_depth + 1);
}

NOINLINE static void return_from_main(int)
{
	expect(1, "return_from_main(int)");
}

NOINLINE static void call_exit(int d)
{
	expect(d, "call_exit(int)");
	if (d < 4)
		call_exit(d + 1);
	end_depth = d + 1;
	exit(3);
}

NOINLINE static void call_quick_exit(int d)
{
	expect(d, "call_quick_exit(int)");
	end_depth = d + 1;
	quick_exit(4);
}

NOINLINE static void call__exit(int d)
{
	expect(d, "call__exit(int)");
	_exit(5);
}

NOINLINE static void call_abort(int d)
{
	expect(d, "call_abort(int)");
	abort();
}

int main()
{
	pthread_t t;

	expect(0, "main");
	second_file(1);
	other_library(1);
	atexit(handler);
	at_quick_exit(handler);
	second_file(1);
	pthread_create(&t, nullptr, thread, nullptr);
	pthread_join(t, nullptr);
	END(1);
}
