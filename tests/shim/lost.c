/* SPDX-License-Identifier: MIT
 *
 * The reader dies while the program waits for it: the program goes on.
 */
#include "traced.h"

enum { N_CALLS = 100000 };

static struct mini_reader *reader;
static uint64_t n_lost;
static uint32_t state_after;

TRACED void work(void)
{
	__asm__ volatile("");
}

QUIET static void *kill_reader_in_wait(void *arg)
{
	while (!__atomic_load_n(&reader_area(reader)->n_waiting,
				__ATOMIC_SEQ_CST))
		sched_yield();
	reader_kill(reader);
	return arg;
}

QUIET static int play(void **state)
{
	pthread_t killer;

	(void)state;
	reader = reader_start(2, 0);
	reader_hold(reader, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	pthread_create(&killer, NULL, kill_reader_in_wait, NULL);
	for (int i = 0; i < N_CALLS; i++)
		work();
	pthread_join(killer, NULL);
	state_after = *shim_state();
	n_lost = reader_area(reader)->n_lost_full;
	return 0;
}

static void a_dead_reader_ends_the_recording(void **state)
{
	(void)state;
	assert_int_equal(state_after, CST_STATE_OFF);
	assert_int_equal(reader_area(reader)->n_waiting, 0);
}

static void the_loss_is_counted(void **state)
{
	(void)state;
	assert_int_equal(n_lost, 1);
}

static void switched_on_again_it_ends_again(void **state)
{
	(void)state;
	shim_mode(NULL, CST_MODE_RING);
	for (int i = 0; i < N_CALLS; i++)
		work();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
	assert_int_equal(reader_area(reader)->n_lost_full, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_reader_ends_the_recording),
		cmocka_unit_test(the_loss_is_counted),
		cmocka_unit_test(switched_on_again_it_ends_again),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
