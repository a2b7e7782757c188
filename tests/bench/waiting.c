/* SPDX-License-Identifier: MIT
 *
 * Calls once, then waits until standard input ends: the call's row must come
 * out while the program blocks.
 */
#include <unistd.h>

static void first(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

int main(void)
{
	first();
	return 0;
}
