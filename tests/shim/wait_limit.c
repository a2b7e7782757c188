/* SPDX-License-Identifier: MIT
 *
 * A reader that lives but takes nothing: the program waits once, then loses
 * records, each counted, until a chunk is given back.
 */
#include "traced.h"
#include <signal.h>

enum { N_CALLS = 20000, POOL = 2 };

static struct mini_reader *reader;
static uint64_t n_waits_held, n_lost_held;

TRACED void work(void)
{
	__asm__ volatile("");
}

TRACED void after(void)
{
	__asm__ volatile("");
}

QUIET static int play(void **state)
{
	struct cst_area *a;

	(void)state;
	/* A sanitizer's: it would be recorded in each chunk, whose records are
	 * counted here. */
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	reader = reader_start(POOL, 0);
	a = reader_area(reader);
	a->wait_limit_ms = 50;
	reader_hold(reader, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	for (int i = 0; i < N_CALLS; i++)
		work();
	n_waits_held = a->n_waits;
	n_lost_held = a->n_lost_full;
	reader_hold(reader, 0);
	while (!(uint32_t)__atomic_load_n(&a->free_head, __ATOMIC_SEQ_CST))
		sched_yield();
	after();
	shim_mode(NULL, CST_MODE_OFF);
	work();
	reader_stop(reader);
	return 0;
}

static void the_program_waits_once(void **state)
{
	(void)state;
	assert_int_equal(n_waits_held, 1);
	assert_int_equal(n_lost_held, 2 * N_CALLS - POOL * CST_CHUNK_RECORDS);
}

static void what_was_not_lost_came_out(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, work, CST_ENTER) +
				 reader_count(reader, work, CST_EXIT),
			 POOL * CST_CHUNK_RECORDS);
}

static void a_chunk_given_back_is_used(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, after, CST_ENTER), 1);
	assert_int_equal(reader_count(reader, after, CST_EXIT), 1);
	assert_int_equal(reader_area(reader)->n_lost_full, n_lost_held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_waits_once),
		cmocka_unit_test(what_was_not_lost_came_out),
		cmocka_unit_test(a_chunk_given_back_is_used),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
