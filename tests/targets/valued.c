/* SPDX-License-Identifier: MIT
 *
 * Calls that report their own arguments and results: scale() of 1 to 5, each
 * within a span; compile with -DCSTRACE.
 */
#include <cstrace/cstrace.h>

CSTRACE_FUNC(int, scale, (int by, const char *what), (by, what))
{
	return by * (int)(what[0] - 'a');
}

int main(void)
{
	int sum = 0;

	for (int i = 1; i <= 5; i++) {
		CSTRACE_SPAN("round", "i", i);
		sum += scale(i, i % 2 ? "b" : "c");
	}
	return sum != 21;
}
