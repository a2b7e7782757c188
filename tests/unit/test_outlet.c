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

static void *read_all(void *arg)
{
	char text[512];

	while (read(*(int *)arg, text, sizeof(text)) > 0)
		;
	return NULL;
}

/* Each time the terminal takes no more, what it got ends with a row, as long as
 * it takes anything within a moment: gdb may write next. */
static void a_row_that_was_begun_is_ended(void **state)
{
	static char text[SIZE];
	struct outlet o;
	int ours, terminal, n_full = 0, n_in_row = 0;
	pthread_t reader;

	(void)state;
	for (int i = 0; i < SIZE; i++)
		text[i] = i % 100 == 99 ? '\n' : 'x';
	assert_int_equal(openpty(&ours, &terminal, NULL, NULL, NULL), 0);
	pthread_create(&reader, NULL, read_all, &ours);
	outlet_init(&o);
	outlet_turn(&o, CST_SINK_FD, terminal);
	while (n_full < 20) {
		outlet_put(&o, text, SIZE / 100 * 100, OUTLET_NOT);
		n_full += o.rest.len > 0;
		n_in_row += o.rest.len % 100 != 0;
		while (!outlet_is_ready(&o, PATIENCE_MS))
			;
	}
	/* The reader may not have been given the processor. */
	assert_true(n_in_row < n_full / 2);
	outlet_release(&o);
	close(terminal);
	pthread_join(reader, NULL);
	close(ours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_do_not_end_the_patience),
		cmocka_unit_test(a_row_that_was_begun_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
