/* SPDX-License-Identifier: MIT
 *
 * siglongjmp out of a handler on an alternate stack, to a function that has
 * open calls below it, and what is called from there: inlined or not.
 */
#include "expect.h"
#include <setjmp.h>
#include <signal.h>

static char low[65536];
static sigjmp_buf env;
static volatile int round_no;

NOINLINE static void note(int d)
{
	expect_on("alt", d, "note");
}

QUIET static void handler(int sig)
{
	(void)sig;
	note(0);
	siglongjmp(env, 1);
}

NOINLINE static int dive(int d, int n)
{
	expect(d, "dive");
	if (!n)
		raise(SIGUSR1);
	return dive(d + 1, n - 1) + round_no;
}

NOINLINE static void calm(int d)
{
	expect(d, "calm");
}

static inline __attribute__((always_inline)) void inlined(int d)
{
	expect(d, "inlined");
	calm(d + 1);
}

NOINLINE static void rounds(int d)
{
	expect(d, "rounds");
	for (round_no = 0; round_no < 6; round_no++) {
		if (!sigsetjmp(env, 1))
			dive(d + 1, 3);
		else if (round_no & 1)
			calm(d + 1);
		else
			inlined(d + 1);
	}
}

int main(void)
{
	stack_t alt = {.ss_sp = low, .ss_size = sizeof(low)};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_ONSTACK};

	expect(0, "main");
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &action, NULL);
	rounds(1);
	calm(1);
	return 0;
}
