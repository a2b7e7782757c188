/* SPDX-License-Identifier: MIT
 *
 * Signals that come while traced code runs, however slow tracing makes it: each
 * handler orders the next.  Says how many calls it made.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { N_ALARMS = 40, PERIOD_US = 1000 };

static volatile sig_atomic_t n_handled;

#define BARE __attribute__((no_instrument_function))

BARE static void order_alarm(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = PERIOD_US}};

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void in_handler(int n)
{
	if (n)
		in_handler(n - 1);
}

static void handler(int sig)
{
	(void)sig;
	in_handler(2);
	n_handled++;
	order_alarm();
}

static int work(int n)
{
	return n ? work(n - 1) + 1 : 0;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler};
	int n_rounds = 0;

	sigaction(SIGALRM, &action, NULL);
	order_alarm();
	for (; n_handled < N_ALARMS; n_rounds++)
		work(4);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	printf("work %d handler %d in_handler %d main 1\n", n_rounds * 5,
	       (int)n_handled, n_handled * 3);
	return 0;
}
