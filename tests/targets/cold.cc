// SPDX-License-Identifier: MIT
// With -O2 gcc moves the handler, and the clean-up of what has a destructor,
// to a part of the function far from the rest.
#include <cstdio>

static volatile int n;

__attribute__((noinline, noclone)) static void inner(int i)
{
	n = n + i;
	if (i < 0)
		throw i;
}

struct guard {
	__attribute__((noinline)) ~guard()
	{
		n = n + 1;
	}
};

__attribute__((noinline, noclone)) static void handled(int i)
{
	n = n + 2;
}

__attribute__((noinline, noclone)) static void middle(int i)
{
	guard g;

	inner(i);
	try {
		inner(-i);
	} catch (int thrown) {
		handled(thrown);
	}
	inner(i + 1);
}

int main()
{
	guard g;

	middle(1);
	inner(5);
	printf("%d\n", n);
	return 0;
}
