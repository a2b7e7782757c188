/* SPDX-License-Identifier: MIT
 *
 * Functions that the program defines itself, though system headers declare
 * them: they are its own, not the library's.
 */
#include "expect.h"
#include <stdio.h>

static int depth;

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

char *getenv(const char *name)
{
	expect(depth, "getenv");
	leaf(depth + 1);
	return (char *)name;
}

int putenv(char *text)
{
	expect(depth, "putenv");
	leaf(depth + 1);
	return *text;
}

int remove(const char *path)
{
	expect(depth, "remove");
	depth = 2;
	getenv(path);
	depth = 1;
	return 0;
}

int main(void)
{
	char text[] = "A=b";

	expect(0, "main");
	depth = 1;
	getenv("A");
	putenv(text);
	remove(text);
	return 0;
}
