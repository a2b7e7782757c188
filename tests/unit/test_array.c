/* SPDX-License-Identifier: MIT
 *
 * Arrays grow by doubling, with zeros, and not beyond what there is.
 */
#include "base/array.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void it_doubles_and_is_zero(void **state)
{
	uint64_t *all = NULL;
	uint32_t cap = 0;

	(void)state;
	assert_int_equal(array_room(&all, &cap, 0), 0);
	assert_null(all);
	for (uint32_t n = 0, before = 0; n < 1000; n++) {
		assert_int_equal(array_room(&all, &cap, n + 1ull), 0);
		assert_true(cap > n && (cap == before || cap >= 2 * before));
		assert_int_equal(all[n], 0);
		assert_int_equal(all[cap - 1], 0);
		all[n] = n;
		before = cap;
	}
	for (uint32_t n = 0; n < 1000; n++)
		assert_int_equal(all[n], n);
	free(all);
}

static void one_step_reaches_far(void **state)
{
	char *all = NULL;
	uint32_t cap = 0;

	(void)state;
	assert_int_equal(array_room(&all, &cap, 100000), 0);
	assert_int_equal(cap, 100000);
	assert_int_equal(all[99999], 0);
	free(all);
}

static void what_cannot_be_leaves_it(void **state)
{
	struct {
		char bytes[1 << 20];
	} *all = NULL;
	uint32_t cap = 0;

	(void)state;
	assert_int_equal(array_room(&all, &cap, 1), 0);
	all[0].bytes[0] = 'x';
	cap = 16;
	assert_int_equal(array_room(&all, &cap, 1ull << 32), CST_MEMORY);
	assert_int_equal(array_room(&all, &cap, UINT64_MAX), CST_MEMORY);
	assert_int_equal(cap, 16);
	assert_int_equal(all[0].bytes[0], 'x');
	/* 2^64 bytes and one item. */
	assert_int_equal(array_room_of(&all, &cap, 1 << 20, SIZE_MAX >> 19),
			 CST_MEMORY);
	assert_int_equal(cap, 16);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_doubles_and_is_zero),
		cmocka_unit_test(one_step_reaches_far),
		cmocka_unit_test(what_cannot_be_leaves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
