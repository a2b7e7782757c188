/* SPDX-License-Identifier: MIT
 *
 * One function inlined twice into another: compilers make one piece of code of
 * what the two end with, which the debug information says is of one of them.
 */
#include "expect.h"

#define INLINED static inline __attribute__((always_inline))

static volatile int is_closing, n_users;

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

INLINED int is_used(int d)
{
	expect(d, "is_used");
	return n_users;
}

INLINED void release(int d)
{
	expect(d, "release");
	n_users--;
}

NOINLINE static void close_it(int d)
{
	expect(d, "close_it");
	leaf(d + 1);
}

INLINED int handle(int d, void (*how)(int))
{
	expect(d, "handle");
	n_users++;
	how(d + 1);
	release(d + 1);
	if (is_closing) {
		if (!is_used(d + 1))
			close_it(d + 1);
		return 0;
	}
	return 1;
}

NOINLINE static void on_event(int d, int is_first, int is_second)
{
	expect(d, "on_event");
	if (is_first && !handle(d + 1, leaf))
		return;
	if (is_second && !handle(d + 1, close_it))
		return;
	if (is_first && is_second && !handle(d + 1, leaf))
		return;
}

int main(void)
{
	expect(0, "main");
	for (int i = 0; i < 16; i++) {
		is_closing = i & 4;
		n_users = i >> 3;
		on_event(1, i & 1, i & 2);
	}
	return 0;
}
