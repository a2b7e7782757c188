// SPDX-License-Identifier: MIT
//
// Before main and after it: constructors, atexit, destructors.
#include "expect.h"

NOINLINE static void leaf(int d)
{
	expect(d, "leaf(int)");
}

NOINLINE static void at_exit()
{
	expect(0, "at_exit()");
	leaf(1);
}

__attribute__((constructor(200))) static void early()
{
	expect(0, "early()");
	leaf(1);
}

__attribute__((destructor(200))) static void late()
{
	expect(0, "late()");
	leaf(1);
}

NOINLINE static void work(int d)
{
	expect(d, "work(int)");
	leaf(d + 1);
}

int main()
{
	expect(0, "main");
	atexit(at_exit);
	work(1);
}
