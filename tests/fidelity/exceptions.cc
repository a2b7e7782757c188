// SPDX-License-Identifier: MIT
//
// Exceptions over frames, rethrown, out of destructors' neighbours.
#include "expect.h"
#include <stdexcept>

struct Guard {
	int d;
	NOINLINE explicit Guard(int depth) : d(depth)
	{
		expect(d, "Guard::Guard(int)");
	}
	NOINLINE ~Guard()
	{
		expect(d, "Guard::~Guard()");
	}
};

NOINLINE static void thrower(int d, int n)
{
	expect(d, "thrower(int, int)");
	if (n == 0)
		throw std::runtime_error("x");
	thrower(d + 1, n - 1);
	expect(d + 1, "never");
}

NOINLINE static void guarded(int d)
{
	expect(d, "guarded(int)");
	Guard g(d + 1);
	thrower(d + 1, 4);
}

NOINLINE static void rethrow(int d)
{
	expect(d, "rethrow(int)");
	try {
		guarded(d + 1);
	} catch (...) {
		throw;
	}
}

NOINLINE static void calm(int d)
{
	expect(d, "calm(int)");
}

int main()
{
	expect(0, "main");
	for (int i = 0; i < 10; i++) {
		try {
			if (i & 1)
				rethrow(1);
			else
				guarded(1);
		} catch (const std::exception &) {
			calm(1);
		}
		calm(1);
	}
}
