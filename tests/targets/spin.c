/* SPDX-License-Identifier: MIT
 *
 * Calls tick() over and over until standard input has something or ends.
 * Says "ready" first and at the end whether it was called at all.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static volatile long n_ticks;

static void tick(void)
{
	n_ticks++;
}

static int turn(void)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};

	for (int i = 0; i < 3; i++)
		tick();
	return poll(&in, 1, 1) == 0;
}

static long spin(void)
{
	while (turn())
		;
	return n_ticks;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	spin();
	printf("spun %s\n", n_ticks ? "on" : "not at all");
	return 0;
}
