/* SPDX-License-Identifier: MIT
 *
 * The sync mode: each event has a ticket that was answered, or a number.
 */
#include "traced.h"

enum { N_THREADS = 3, N_CALLS = 300 };

static struct mini_reader *reader;
static uint32_t asked, done, numbers;
static uint32_t answer_held;

TRACED void handshaken(void)
{
	__asm__ volatile("");
}

TRACED void stopped_at(void)
{
	__asm__ volatile("");
}

TRACED void nobody_answers(void)
{
	__asm__ volatile("");
}

QUIET static void *play_thread(void *arg)
{
	for (int i = 0; i < N_CALLS; i++)
		handshaken();
	return arg;
}

QUIET static void play_handshake(void)
{
	pthread_t threads[N_THREADS];

	shim_mode(reader_path(reader), CST_MODE_HANDSHAKE);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, play_thread, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	asked = __atomic_load_n(&reader_area(reader)->sync_asked,
				__ATOMIC_SEQ_CST);
	done = __atomic_load_n(&reader_area(reader)->sync_done,
			       __ATOMIC_SEQ_CST);
}

QUIET static void play_breakpoints(void)
{
	shim_mode(NULL, CST_MODE_BREAKPOINT);
	for (int i = 0; i < N_CALLS; i++)
		stopped_at();
	numbers = reader_area(reader)->sync_number;
	answer_held = shim_control()->answer_state;
}

QUIET static void play_without_answers(void)
{
	reader_area(reader)->wait_limit_ms = 20;
	reader_hold(reader, 1);
	shim_mode(NULL, CST_MODE_HANDSHAKE);
	for (int i = 0; i < N_CALLS; i++)
		nobody_answers();
	reader_hold(reader, 0);
}

QUIET static int play(void **state)
{
	(void)state;
	reader = reader_start(8, 1);
	play_handshake();
	play_breakpoints();
	play_without_answers();
	shim_mode(NULL, CST_MODE_OFF);
	handshaken();
	reader_stop(reader);
	return 0;
}

static void each_event_is_answered(void **state)
{
	(void)state;
	assert_int_equal(asked, 2 * N_THREADS * N_CALLS);
	assert_int_equal(done, asked);
	assert_int_equal(reader_count(reader, handshaken, CST_ENTER),
			 N_THREADS * N_CALLS);
}

static void each_event_has_a_number(void **state)
{
	(void)state;
	assert_int_equal(numbers, 2 * N_CALLS);
	assert_int_equal(answer_held, CST_STATE_SYNC);
	assert_int_equal(reader_count(reader, stopped_at, CST_EXIT), N_CALLS);
}

static void a_silent_reader_is_waited_for_once(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, nobody_answers, CST_ENTER),
			 N_CALLS);
	reader_check_nesting(reader);
}

static void targets_have_their_own_addresses(void **state)
{
	void (*enter)(void *, void *, unsigned long) = cstrace_hook_enter;
	void (*leave)(void *, void *, unsigned long) = cstrace_hook_exit;

	(void)state;
	assert_ptr_not_equal(enter, leave);
	enter(NULL, NULL, 0);
	leave(NULL, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_answered),
		cmocka_unit_test(each_event_has_a_number),
		cmocka_unit_test(a_silent_reader_is_waited_for_once),
		cmocka_unit_test(targets_have_their_own_addresses),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
