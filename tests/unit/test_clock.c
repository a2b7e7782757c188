/* SPDX-License-Identifier: MIT
 *
 * Time spent stopped is left out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "area/clock.h"

static void pauses_are_left_out(void **state)
{
	struct pauses p = {0};

	(void)state;
	assert_int_equal(pauses_skip(&p, 100), 100);
	pauses_begin(&p, 100);
	assert_int_equal(pauses_end(&p, 150), 50);
	pauses_begin(&p, 200);
	pauses_end(&p, 230);
	assert_int_equal(pauses_skip(&p, 90), 90);
	assert_int_equal(pauses_skip(&p, 120), 100);
	assert_int_equal(pauses_skip(&p, 160), 110);
	assert_int_equal(pauses_skip(&p, 210), 150);
	assert_int_equal(pauses_skip(&p, 300), 220);
	pauses_release(&p);
}

static void time_stands_still_while_a_pause_lasts(void **state)
{
	struct pauses p = {0};

	(void)state;
	pauses_begin(&p, 100);
	pauses_begin(&p, 120); /* it has begun already */
	assert_int_equal(pauses_skip(&p, 130), 100);
	assert_int_equal(pauses_end(&p, 140), 40);
	assert_int_equal(pauses_end(&p, 150), 0);
	assert_int_equal(pauses_skip(&p, 150), 110);
	pauses_release(&p);
}

static void a_pause_can_come_before_one_that_lasts(void **state)
{
	struct pauses p = {0};

	(void)state;
	pauses_begin(&p, 100);
	pauses_insert(&p, 10, 40);
	assert_int_equal(pauses_skip(&p, 50), 20);
	assert_int_equal(pauses_skip(&p, 130), 70);
	pauses_end(&p, 200);
	assert_int_equal(pauses_skip(&p, 210), 80);
	pauses_release(&p);
}

static void a_pause_takes_in_those_that_it_meets(void **state)
{
	struct pauses p = {0};

	(void)state;
	for (uint64_t at = 100; at < 2000; at += 100) {
		pauses_begin(&p, at);
		pauses_end(&p, at + 10);
	}
	pauses_insert(&p, 205, 555); /* from within one to between two */
	assert_int_equal(pauses_skip(&p, 150), 140);
	assert_int_equal(pauses_skip(&p, 300), 190);
	assert_int_equal(pauses_skip(&p, 560), 195);
	assert_int_equal(pauses_skip(&p, 650), 275);
	assert_int_equal(pauses_skip(&p, 2000), 2000 - 190 - 355 + 40);
	pauses_begin(&p, 2100);
	pauses_insert(&p, 0, 2000);
	assert_int_equal(pauses_skip(&p, 2050), 50);
	pauses_insert(&p, 2050, 2150);
	assert_int_equal(pauses_skip(&p, 3000), 50);
	pauses_end(&p, 2200);
	assert_int_equal(pauses_skip(&p, 2300), 150);
	pauses_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_are_left_out),
		cmocka_unit_test(time_stands_still_while_a_pause_lasts),
		cmocka_unit_test(a_pause_can_come_before_one_that_lasts),
		cmocka_unit_test(a_pause_takes_in_those_that_it_meets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
