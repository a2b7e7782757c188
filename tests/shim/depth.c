/* SPDX-License-Identifier: MIT
 *
 * Calls deeper than are kept are passed over: what is recorded is bounded, and
 * what is wanted is all there, whatever happens below.
 */
#include <signal.h>
#include "traced.h"

enum { KEPT = 3, DEEP = 40, N_TIMES = 200, STACK_SIZE = 1 << 16 };

static struct mini_reader *reader;
static char handlers_stack[STACK_SIZE];

QUIET static void keep(uint32_t depth)
{
	__atomic_store_n(&reader_area(reader)->keep_depth, depth,
			 __ATOMIC_RELAXED);
}

TRACED void leaf(void)
{
	__asm__ volatile("");
}

/* At the n-th level below, something is done. */
#define RECURSIVE(name)                               \
	TRACED void name(int n, void (*at_end)(void)) \
	{                                             \
		if (n > 1)                            \
			name(n - 1, at_end);          \
		else if (at_end)                      \
			at_end();                     \
		__asm__ volatile("");                 \
	}

RECURSIVE(plain)
RECURSIVE(threaded)
RECURSIVE(raised)
RECURSIVE(removed)
RECURSIVE(signalled)
RECURSIVE(shaded)

TRACED void in_handler(void)
{
	leaf();
}

TRACED void muted(void)
{
	shaded(DEEP, NULL);
}

TRACED void late(void)
{
	leaf();
}

QUIET static void handler(int number)
{
	(void)number;
	in_handler();
}

QUIET static void raise_limit(void)
{
	keep(DEEP);
	late();
}

QUIET static void remove_limit(void)
{
	keep(0);
	late();
}

QUIET static void send(void)
{
	raise(SIGUSR1);
}

QUIET static void *thread(void *n_times)
{
	for (int i = 0; i < *(int *)n_times; i++)
		threaded(DEEP, NULL);
	return NULL;
}

QUIET static void set_handler(void)
{
	stack_t where = {.ss_sp = handlers_stack, .ss_size = STACK_SIZE};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&where, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

QUIET static void mute(void *function)
{
	reader_area(reader)->has_verdicts = 1;
	for (uint32_t i = CST_FIRST_SITE; i < reader_area(reader)->n_sites; i++)
		if (reader_site(reader, i)->callee == (uint64_t)function)
			reader_site(reader, i)->verdict = CST_MUTED;
	reader_judge(reader);
}

QUIET static void play(int n_times)
{
	pthread_t t;

	keep(KEPT);
	for (int i = 0; i < n_times; i++)
		plain(DEEP, NULL);
	pthread_create(&t, NULL, thread, &n_times);
	pthread_join(t, NULL);
	for (int i = 0; i < n_times; i++)
		signalled(DEEP, send);
	for (int i = 0; i < n_times; i++)
		muted();
	/* While deep calls are open. */
	raised(DEEP, raise_limit);
	raised(DEEP, NULL);
	keep(KEPT);
	removed(DEEP, remove_limit);
	removed(DEEP, NULL);
}

/* Entries that were recorded. */
QUIET static size_t count(void *function)
{
	return reader_count(reader, function, CST_ENTER);
}

static void only_levels_that_are_kept_are_recorded(void **state)
{
	(void)state;
	/* The first time, before the sites were judged: all. */
	assert_int_equal(count(plain), DEEP + KEPT * N_TIMES);
	assert_int_equal(count(shaded), DEEP + KEPT * N_TIMES);
}

static void a_thread_has_a_stack_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(count(threaded), DEEP + KEPT * N_TIMES);
}

static void calls_on_a_signal_stack_are_recorded(void **state)
{
	(void)state;
	assert_int_equal(count(signalled), DEEP + KEPT * N_TIMES);
	assert_int_equal(count(in_handler), 1 + N_TIMES);
}

static void a_change_begins_with_the_next_calls(void **state)
{
	(void)state;
	assert_int_equal(count(raised), 2 * DEEP + KEPT + DEEP);
	assert_int_equal(count(removed), 2 * DEEP + KEPT + DEEP);
	/* Not in the depth. */
	assert_int_equal(count(late), 2);
}

static void those_passed_over_are_counted(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < reader_area(reader)->n_threads; i++)
		n += reader_stream(reader, i)->n_passed;
	/* With late() and its leaf(), twice. */
	assert_int_equal(n, (4 * N_TIMES + 2) * (DEEP - KEPT) + 4);
}

static void entries_and_exits_pair_off(void **state)
{
	(void)state;
	reader_check_nesting(reader);
}

QUIET int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_levels_that_are_kept_are_recorded),
		cmocka_unit_test(a_thread_has_a_stack_of_its_own),
		cmocka_unit_test(calls_on_a_signal_stack_are_recorded),
		cmocka_unit_test(a_change_begins_with_the_next_calls),
		cmocka_unit_test(those_passed_over_are_counted),
		cmocka_unit_test(entries_and_exits_pair_off),
	};

	set_handler();
	reader = reader_start(64, 1);
	keep(KEPT);
	shim_mode(reader_path(reader), CST_MODE_RING);
	play(1); /* makes the sites */
	mute(muted);
	play(N_TIMES);
	shim_mode(NULL, CST_MODE_OFF);
	leaf();
	reader_stop(reader);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
