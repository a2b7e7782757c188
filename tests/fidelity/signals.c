/* SPDX-License-Identifier: MIT
 *
 * Handlers that run traced code at a high rate inside traced code; they nest
 * below whatever they interrupted, and end before it goes on.
 */
#include "expect.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t n_handled;

NOINLINE static void in_handler(int n)
{
	if (n)
		in_handler(n - 1);
}

NOINLINE static void handler(int sig)
{
	(void)sig;
	in_handler(3);
	n_handled++;
}

NOINLINE static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

int main(void)
{
	struct itimerval every = {{0, 200}, {0, 200}};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_RESTART};
	volatile int ten = 10; /* each round calls */
	long n_work = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (n_handled < 100)
		n_work += work(ten) > 0;
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	{
		char line[64];
		char *p = stpcpy(line, "counts work ");

		p = expect_number(p, n_work * 177);
		p = stpcpy(p, "handler ");
		p = expect_number(p, n_handled);
		p = stpcpy(p, "in_handler ");
		p = expect_number(p, n_handled * 4L);
		*p++ = '\n';
		if (write(9, line, (size_t)(p - line)) < 0)
			return 1;
	}
	return 0;
}
