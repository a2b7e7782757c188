/* SPDX-License-Identifier: MIT
 *
 * Which bytes may stand before a return address.
 */
#include "elf/x86_64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define ENDS_IN_CALL(...)                            \
	ends_in_call((const uint8_t[]){__VA_ARGS__}, \
		     sizeof((const uint8_t[]){__VA_ARGS__}))

static int ends_in_call(const uint8_t *code, size_t n)
{
	uint8_t last[PROCESSOR_CALL_BYTES] = {0};

	memcpy(last + sizeof(last) - n, code, n);
	return processor_ends_in_call(last);
}

static void calls_are_calls(void **state)
{
	(void)state;
	/* what an assembler makes of call f, call *%rax, ... */
	assert_true(ENDS_IN_CALL(0xe8, 0x9a, 0xf9, 0xff, 0xff));
	assert_true(ENDS_IN_CALL(0xff, 0xd0));		   /* *%rax */
	assert_true(ENDS_IN_CALL(0x41, 0xff, 0xd4));	   /* *%r12 */
	assert_true(ENDS_IN_CALL(0xff, 0x10));		   /* *(%rax) */
	assert_true(ENDS_IN_CALL(0xff, 0x50, 0x08));	   /* *8(%rax) */
	assert_true(ENDS_IN_CALL(0x41, 0xff, 0x55, 0x00)); /* *(%r13) */
	assert_true(ENDS_IN_CALL(0x41, 0xff, 0x14, 0x24)); /* *(%r12) */
	assert_true(ENDS_IN_CALL(0xff, 0x14, 0xd8));	   /* *(%rax,%rbx,8) */
	assert_true(ENDS_IN_CALL(0xff, 0x54, 0x24, 0x10)); /* *16(%rsp) */
	assert_true(ENDS_IN_CALL(0xff, 0x15, 0xe2, 0x2f, 0, 0)); /* (%rip) */
	assert_true(ENDS_IN_CALL(0xff, 0x90, 0x30, 0x12, 0, 0));
	assert_true(ENDS_IN_CALL(0xff, 0x94, 0x24, 0x30, 0x12, 0, 0));
	assert_true(ENDS_IN_CALL(0xff, 0x14, 0xc5, 0x30, 0x12, 0, 0));
}

static void ends_of_functions_are_not(void **state)
{
	(void)state;
	/* call f; nop; leave; ret: ff 90 is no call, so short */
	assert_false(
		ENDS_IN_CALL(0xe8, 0x9a, 0xf9, 0xff, 0xff, 0x90, 0xc9, 0xc3));
	assert_false(ENDS_IN_CALL(0xff, 0xe0)); /* jmp *%rax */
	assert_false(ENDS_IN_CALL(0xff, 0x14)); /* cut */
	assert_false(ENDS_IN_CALL(0x66, 0x90, 0x90, 0xc3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_calls),
		cmocka_unit_test(ends_of_functions_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
