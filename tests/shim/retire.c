/* SPDX-License-Identifier: MIT
 *
 * Code that was unmapped: its sites are made anew, others keep theirs.
 */
#include "traced.h"

static struct mini_reader *reader;
static uint32_t n_before, n_after_one, n_after_other, n_after_many;

enum { GONE = 0x5000, STAYS = 0x9000 };

QUIET TRACED void call_at(uint64_t callee)
{
	__cyg_profile_func_enter((void *)callee, &errno);
	__cyg_profile_func_exit((void *)callee, &errno);
	__asm__ volatile(""); /* no tail call */
}

QUIET static void retire(uint64_t start, uint64_t end, uint32_t n)
{
	volatile struct cst_control *c = shim_control();

	c->retire_start = start;
	c->retire_end = end;
	c->retire_seq += n;
	shim_mode(NULL, CST_MODE_RING);
}

QUIET static int play(void **state)
{
	struct cst_area *a;

	(void)state;
	reader = reader_start(8, 1);
	a = reader_area(reader);
	shim_mode(reader_path(reader), CST_MODE_RING);
	call_at(GONE);
	call_at(STAYS);
	n_before = a->n_sites;
	retire(GONE, GONE + 0x1000, 1);
	call_at(STAYS);
	n_after_other = a->n_sites;
	call_at(GONE);
	n_after_one = a->n_sites;
	retire(0x10, 0x20, 2);
	call_at(STAYS);
	n_after_many = a->n_sites;
	shim_mode(NULL, CST_MODE_OFF);
	call_at(STAYS);
	reader_stop(reader);
	return 0;
}

static void retired_sites_are_made_anew(void **state)
{
	(void)state;
	assert_int_equal(n_before, CST_FIRST_SITE + 4);
	assert_int_equal(n_after_other, n_before);
	assert_int_equal(n_after_one, n_before + 2);
}

static void a_range_that_was_missed_retires_all(void **state)
{
	(void)state;
	assert_int_equal(n_after_many, n_after_one + 2);
	reader_check_nesting(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retired_sites_are_made_anew),
		cmocka_unit_test(a_range_that_was_missed_retires_all),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
