// SPDX-License-Identifier: MIT
//
// A library that catches what others throw: exceptions_far.cc.
#include "../expect.h"
#include <exception>

bool caught_over_there(int d, void (*f)(int));

NOINLINE static void handle(int d)
{
	expect(d, "handle(int)");
}

NOINLINE static void call(int d, void (*f)(int))
{
	expect(d, "call(int, void (*)(int))");
	f(d + 1);
}

NOINLINE bool caught_over_there(int d, void (*f)(int))
{
	expect(d, "caught_over_there(int, void (*)(int))");
	try {
		call(d + 1, f);
	} catch (const std::exception &) {
		handle(d + 1);
		return true;
	}
	return false;
}
