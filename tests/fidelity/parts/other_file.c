/* SPDX-License-Identifier: MIT
 *
 * The second file of files.c.
 */
#include "files.h"

static int same(int d, int line, int n)
{
	told(d, line, "same");
	n += small(HERE);
	return n > 0 ? same(HERE, n - 2) : n;
}

NOINLINE static int local_to_both(int d, int line)
{
	told(d, line, "local_to_both");
	return same(HERE, 1) + back_here(HERE);
}

int other_file(int d, int line)
{
	told(d, line, "other_file");
	return local_to_both(HERE) + hidden(HERE, 1);
}

int hidden(int d, int line, int n)
{
	told(d, line, "hidden");
	return n ? hidden(HERE, n - 1) : same(HERE, 2);
}
