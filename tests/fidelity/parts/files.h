/* SPDX-License-Identifier: MIT
 *
 * What the two files of files.c share.
 */
#include "../expect.h"

#define HERE d + 1, __LINE__

static int local_to_both(int d, int line);
int other_file(int d, int line);
int back_here(int d, int line);
__attribute__((visibility("hidden"))) int hidden(int d, int line, int n);

QUIET static void told(int d, int line, const char *name)
{
	char text[128];
	char *p = stpcpy(text, name);

	*p++ = '\t';
	*expect_number(p, line) = 0;
	expect(d, text);
}

static inline int small(int d, int line)
{
	told(d, line, "small");
	return d & 1;
}
