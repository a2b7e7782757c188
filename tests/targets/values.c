/* SPDX-License-Identifier: MIT
 *
 * Calls with values of which a few are bad: one parse() in 16 has another base,
 * and every fourth fails.
 */
#include <cstrace/cstrace.h>
#include <stdio.h>
#include <stdlib.h>

CSTRACE_FUNC(int, parse, (const char *text, int base), (text, base), {
	char *end;
	int n = (int)strtol(text, &end, base);

	return *end ? -1 : n;
})

static int more; /* with an argument, all numbers are other ones */

static void line(int i)
{
	char text[32];

	CSTRACE_SPAN("line", "number", i);
	sprintf(text, "%d%s", i + more, i % 4 ? "" : "x");
	if (parse(text, i % 16 == 9 ? 16 : 10) < 0)
		cstrace_log("line %d is bad", i);
}

int main(int argc, char **argv)
{
	(void)argv;
	more = argc > 1 ? 640 : 0;
	for (int i = 1; i <= 32; i++)
		line(i);
	return 0;
}
