/* SPDX-License-Identifier: MIT
 *
 * Single instructions at another address.
 */
#include "cstrace/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

enum { FROM = 0x10000, TO = 0x10400 };

static uint32_t move(const char *code, uint32_t n, uint64_t to, uint8_t *out)
{
	return cst_moved_instruction((const uint8_t *)code, n, FROM, to, out);
}
#define MOVE(code, to, out) move((code), sizeof(code) - 1, (to), (out))

static void what_has_no_address_stays(void **state)
{
	uint8_t out[CST_INSTRUCTION_MAX];

	(void)state;
	assert_int_equal(MOVE("\x89\xd0\x90\x90", TO, out), 2); /* mov */
	assert_memory_equal(out, "\x89\xd0", 2);
	assert_int_equal(MOVE("\x0f\x1f\x44\0\0", TO, out), 5); /* nop */
	assert_memory_equal(out, "\x0f\x1f\x44\0\0", 5);
}

static void an_address_is_as_far_from_the_new_place(void **state)
{
	uint8_t out[CST_INSTRUCTION_MAX];

	(void)state;
	/* mov 0x1000(%rip), %eax; addl $7, 0x1000(%rip); jne .+0x1006 */
	assert_int_equal(MOVE("\x8b\x05\0\x10\0\0", TO, out), 6);
	assert_memory_equal(out, "\x8b\x05\0\x0c\0\0", 6);
	assert_int_equal(MOVE("\x83\x05\0\x10\0\0\x07", TO, out), 7);
	assert_memory_equal(out, "\x83\x05\0\x0c\0\0\x07", 7);
	assert_int_equal(MOVE("\x0f\x85\0\x10\0\0", TO, out), 6);
	assert_memory_equal(out, "\x0f\x85\0\x0c\0\0", 6);
}

static void what_leads_elsewhere_is_none(void **state)
{
	uint8_t out[CST_INSTRUCTION_MAX];

	(void)state;
	assert_int_equal(MOVE("\xc3", TO, out), 0);
	assert_int_equal(MOVE("\xe9\0\x10\0\0", TO, out), 0);
	assert_int_equal(MOVE("\xe8\0\x10\0\0", TO, out), 0);
	assert_int_equal(MOVE("\xff\xe0", TO, out), 0);
	assert_int_equal(MOVE("\x75\x10", TO, out), 0); /* has no room */
	assert_int_equal(MOVE("\x8b\x05\0\x10", TO, out), 0);
	assert_int_equal(MOVE("", TO, out), 0);
}

static void what_is_too_far_is_none(void **state)
{
	uint8_t out[CST_INSTRUCTION_MAX];

	(void)state;
	assert_int_equal(MOVE("\x8b\x05\0\0\0\0", FROM + (1ULL << 31), out), 6);
	assert_int_equal(MOVE("\x8b\x05\0\0\0\0", FROM + (1ULL << 31) + 1, out),
			 0);
	assert_int_equal(MOVE("\x8b\x05\xff\xff\xff\x7f", FROM - 1, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_address_stays),
		cmocka_unit_test(an_address_is_as_far_from_the_new_place),
		cmocka_unit_test(what_leads_elsewhere_is_none),
		cmocka_unit_test(what_is_too_far_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
