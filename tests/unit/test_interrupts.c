/* SPDX-License-Identifier: MIT
 *
 * How many samples an interrupt is, by what it costs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "recorder/interrupt_cost.h"

static void cheap_ones_are_a_sample_each(void **state)
{
	(void)state;
	assert_int_equal(interrupt_samples(0, 997), 1);
	assert_int_equal(interrupt_samples(3000, 997), 1);
	assert_int_equal(interrupt_samples(11000, 997), 1);
	assert_int_equal(interrupt_samples(22000, 97), 1);
}

static void dear_ones_are_several(void **state)
{
	(void)state;
	assert_int_equal(interrupt_samples(15000, 997), 2);
	assert_int_equal(interrupt_samples(17000, 997), 3);
	assert_int_equal(interrupt_samples(19000, 997), 4);
}

static void no_interrupts_are_fewer_than_ticks(void **state)
{
	(void)state;
	assert_int_equal(interrupt_samples(20000, 997), 0);
	assert_int_equal(interrupt_samples(100000, 97), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheap_ones_are_a_sample_each),
		cmocka_unit_test(dear_ones_are_several),
		cmocka_unit_test(no_interrupts_are_fewer_than_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
