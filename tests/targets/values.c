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

static void line(int i)
{
	char text[20];

	CSTRACE_SPAN("line", "number", i);
	sprintf(text, "%d%s", i, i % 4 ? "" : "x");
	if (parse(text, i % 16 == 9 ? 16 : 10) < 0)
		cstrace_log("line %d is bad", i);
}

int main(void)
{
	for (int i = 1; i <= 32; i++)
		line(i);
	return 0;
}
