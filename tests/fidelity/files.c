/* SPDX-License-Identifier: MIT
 *
 * Functions of equal name in two files, hidden ones, and inlined ones across
 * files where the linker optimizes; the line of each call too.
 */
#include "parts/files.h"

static int same(int d, int line, int n)
{
	told(d, line, "same");
	return n ? same(HERE, n - 1) : small(HERE);
}

NOINLINE static int local(int d, int line)
{
	told(d, line, "local");
	return same(HERE, 2) + other_file(HERE);
}

int back_here(int d, int line)
{
	told(d, line, "back_here");
	return small(HERE) + local_to_both(HERE);
}

NOINLINE static int local_to_both(int d, int line)
{
	told(d, line, "local_to_both");
	return same(HERE, 0);
}

int main(void)
{
	int d = 0, n = 0;

	expect(0, "main");
	for (int i = 0; i < 3; i++)
		n += local(HERE);
	n += hidden(HERE, 3);
	n += same(HERE, 1);
	return n < 0;
}
