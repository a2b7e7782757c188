// SPDX-License-Identifier: MIT
//
// Exceptions: over several frames, out of a catch block again, and with
// destructors run on the way.
#include <cstdio>

static volatile int cleaned;

struct Guard {
	~Guard()
	{
		clean();
	}
	static void clean()
	{
		cleaned = cleaned + 1;
	}
};

static void fail(int n)
{
	if (n == 0)
		throw 7;
	fail(n - 1);
}

static void guarded()
{
	Guard guard;

	fail(1);
}

static void rethrow()
{
	try {
		guarded();
	} catch (int) {
		Guard::clean();
		throw;
	}
}

static void recover()
{
	cleaned = cleaned + 1;
}

static int attempt(int n)
{
	try {
		if (n)
			fail(n);
		else
			rethrow();
	} catch (int caught) {
		recover();
		return caught;
	}
	return 0;
}

int main()
{
	int sum = attempt(0) + attempt(1);

	recover();
	std::printf("sum %d, cleaned %d\n", sum, cleaned);
	return 0;
}
