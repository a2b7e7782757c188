/* SPDX-License-Identifier: MIT
 *
 * Each function says its name with a plain write() as it begins: with the
 * sync mode the call's row stands directly before it.
 */
#include <stdio.h>
#include <unistd.h>

static void say(const char *text, int n)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "said %s %d\n", text, n);

	if (write(1, line, (size_t)len) != len)
		_exit(1);
}

static void inner(int n)
{
	say("inner", n);
}

static void outer(int n)
{
	say("outer", n);
	inner(n);
	inner(n + 1);
}

int main(void)
{
	say("main", 0);
	for (int i = 0; i < 3; i++)
		outer(10 * i);
	return 0;
}
