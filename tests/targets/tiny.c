/* SPDX-License-Identifier: MIT
 *
 * Calls a function that does nothing, as often as the argument says.
 */
#include <stdlib.h>

static volatile int n;

static void tiny(void)
{
	n = n + 1;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1;

	while (times-- > 0)
		tiny();
	return 0;
}
