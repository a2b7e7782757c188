/* SPDX-License-Identifier: MIT
 *
 * A loop of 20 ms a round, which says on its terminal in which round it is, or,
 * with any argument, nothing.
 */
#include <poll.h>
#include <stdio.h>

static void work(int round, int is_quiet)
{
	if (!is_quiet)
		printf("round %d\n", round);
	poll(NULL, 0, 20);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int round = 0; round < 100000; round++)
		work(round, argc > 1);
	return 0;
}
