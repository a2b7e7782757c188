/* SPDX-License-Identifier: MIT
 *
 * Rows that go to a terminal which takes them slowly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "recorder/outlet.h"

enum { SIZE = 256 << 10, SIGNALS = 5, PATIENCE_MS = 60000 };

static atomic_int n_signals;

static void count(int signo)
{
	(void)signo;
	n_signals++;
}

/* Reads nothing before the signals have come. */
static void *read_late(void *arg)
{
	char text[4096];
	int fd = *(int *)arg;
	size_t n = 0;

	while (n_signals < SIGNALS)
		usleep(1000);
	while (n < SIZE) {
		ssize_t got = read(fd, text, sizeof(text));

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return NULL;
}

/* gdb gets one for each thread that stops. */
static void signals_do_not_end_the_patience(void **state)
{
	struct sigaction counting = {.sa_handler = count};
	struct itimerval often = {{0, 2000}, {0, 2000}}, never = {0};
	static char text[SIZE];
	struct outlet o;
	int ours, terminal;
	pthread_t reader;
	sigset_t alarm;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(openpty(&ours, &terminal, NULL, NULL, NULL), 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&reader, NULL, read_late, &ours);
	sigaction(SIGALRM, &counting, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	outlet_init(&o);
	outlet_turn(&o, CST_SINK_FD, terminal);
	outlet_put(&o, text, sizeof(text), PATIENCE_MS);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(o.rest.len, 0);
	outlet_release(&o);
	pthread_join(reader, NULL);
	close(ours);
	close(terminal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_do_not_end_the_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
