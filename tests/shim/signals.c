/* SPDX-License-Identifier: MIT
 *
 * Signals at a high rate whose handler makes more calls than a chunk holds:
 * they land anywhere, in the hooks and in the slow path too.
 */
#include <signal.h>
#include <stdatomic.h>
#include "traced.h"

enum { N_SIGNALS = 60, LEAVES = 1 << 11 };

static struct mini_reader *reader;
static atomic_uint n_handled;
static uint64_t n_busy;
static int errno_was_changed;

TRACED void in_handler(int depth)
{
	if (depth) {
		in_handler(depth - 1);
		in_handler(depth - 1);
	}
}

TRACED void busy(void)
{
	__asm__ volatile("");
}

TRACED void handler(int number)
{
	(void)number;
	in_handler(11);
	n_handled++;
}

/* One signal at a time, at a moment that nobody chose. */
QUIET static void *sender(void *arg)
{
	pthread_t target = *(pthread_t *)arg;

	for (unsigned i = 0; i < N_SIGNALS; i++) {
		pthread_kill(target, SIGUSR1);
		while (n_handled <= i)
			sched_yield();
	}
	return NULL;
}

QUIET static int play(void **state)
{
	struct sigaction act = {.sa_handler = handler};
	pthread_t self = pthread_self(), thread;

	(void)state;
	sigaction(SIGUSR1, &act, NULL);
	reader = reader_start(4, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	pthread_create(&thread, NULL, sender, &self);
	errno = 77;
	while (n_handled < N_SIGNALS) {
		busy();
		n_busy++;
		errno_was_changed |= errno != 77;
	}
	pthread_join(thread, NULL);
	shim_mode(NULL, CST_MODE_OFF);
	busy();
	reader_stop(reader);
	return 0;
}

static void handlers_lose_and_double_nothing(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, handler, CST_ENTER), N_SIGNALS);
	assert_int_equal(reader_count(reader, in_handler, CST_ENTER),
			 (uint64_t)N_SIGNALS * (2 * LEAVES - 1));
	assert_int_equal(reader_count(reader, busy, CST_ENTER), n_busy);
	assert_int_equal(reader_count(reader, busy, CST_EXIT), n_busy);
	assert_int_equal(reader_area(reader)->n_lost_full, 0);
}

static void handlers_nest_where_they_ran(void **state)
{
	(void)state;
	reader_check_nesting(reader);
	assert_int_equal(reader_area(reader)->n_threads, 1);
}

static void handlers_find_errno_as_it_was(void **state)
{
	(void)state;
	assert_false(errno_was_changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_lose_and_double_nothing),
		cmocka_unit_test(handlers_nest_where_they_ran),
		cmocka_unit_test(handlers_find_errno_as_it_was),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
