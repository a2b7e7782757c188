/* SPDX-License-Identifier: MIT
 *
 * No symbols, no debug information: functions are called by their place in
 * the file.  One has a rare part that lies elsewhere.
 */
#include "place.h"
#include <setjmp.h>

static jmp_buf jb;

NOINLINE static void leaf(int d, int jump)
{
	told(d, (void *)leaf);
	if (jump)
		longjmp(jb, 1);
}

NOINLINE static int middle(int d, int n)
{
	told(d, (void *)middle);
	if (n)
		return middle(d + 1, n - 1) + 1;
	leaf(d + 1, 0);
	leaf(d + 1, 1);
	return 1;
}

__attribute__((cold)) NOINLINE static void cold_one(int d)
{
	told(d, (void *)cold_one);
	leaf(d + 1, 0);
}

NOINLINE static void with_cold_part(int d, int unlikely, const char *text)
{
	told(d, (void *)with_cold_part);
	if (__builtin_expect(unlikely, 0)) {
		cold_one(d + 1);
		cold_one(d + 1);
	}
	leaf(d + 1, *text);
}

int main(void)
{
	volatile int i;

	if (!place_begin())
		return 1;
	told(0, (void *)main);
	for (i = 0; i < 10; i = i + 1) {
		if (!setjmp(jb))
			middle(1, i);
		else
			leaf(1, 0);
		with_cold_part(1, i & 1, "");
	}
	return 0;
}
