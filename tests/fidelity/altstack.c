/* SPDX-License-Identifier: MIT
 *
 * A handler on an alternate stack, which lies below or above the thread's.
 */
#include "expect.h"
#include <signal.h>

static char low[65536];

NOINLINE static void in_handler(int d)
{
	expect_on("alt", d, "in_handler");
}

NOINLINE static void handler(int sig)
{
	(void)sig;
	expect_on("alt", 0, "handler");
	in_handler(1);
}

NOINLINE static void trouble(int d)
{
	expect(d, "trouble");
	raise(SIGUSR1);
}

NOINLINE static void calm(int d)
{
	expect(d, "calm");
}

int main(void)
{
	stack_t alt = {.ss_sp = low, .ss_size = sizeof(low)};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_ONSTACK};

	expect(0, "main");
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++) {
		trouble(1);
		calm(1);
	}
	return 0;
}
