/* SPDX-License-Identifier: MIT
 *
 * No symbols: handlers and destructors that gcc moved away from their
 * functions.
 */
#include "place.h"

NOINLINE static void leaf(int d)
{
	told(d, (void *)leaf);
}

struct guard {
	int depth;

	QUIET explicit guard(int d) : depth(d)
	{
	}
	QUIET ~guard()
	{
		leaf(depth);
	}
};

NOINLINE static void thrower(int d, int n)
{
	told(d, (void *)thrower);
	leaf(d + 1);
	if (n)
		throw n;
}

NOINLINE static int catcher(int d, int n)
{
	told(d, (void *)catcher);
	leaf(d + 1);
	try {
		thrower(d + 1, n);
		leaf(d + 1);
	} catch (int thrown) {
		leaf(d + 1);
		if (thrown > 2)
			leaf(d + 1);
	}
	leaf(d + 1);
	return n;
}

NOINLINE static int guarded(int d, int n)
{
	told(d, (void *)guarded);
	guard here(d + 1);
	thrower(d + 1, n);
	leaf(d + 1);
	return n;
}

NOINLINE static int outer(int d, int n)
{
	told(d, (void *)outer);
	try {
		guarded(d + 1, n);
		leaf(d + 1);
	} catch (...) {
		leaf(d + 1);
	}
	leaf(d + 1);
	return n;
}

int main()
{
	if (!place_begin())
		return 1;
	told(0, (void *)main);
	for (volatile int i = 0; i < 5; i = i + 1) {
		catcher(1, i);
		outer(1, i);
		leaf(1);
	}
	return 0;
}
