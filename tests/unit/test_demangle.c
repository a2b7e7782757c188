/* SPDX-License-Identifier: MIT
 *
 * What users read as a function's name.
 */
#include "cstrace/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void check(const char *symbol, const char *expected)
{
	char out[256];

	cst_demangle(symbol, out, sizeof(out));
	assert_string_equal(out, expected);
}

static void cpp_names_are_readable(void **state)
{
	(void)state;
	check("_ZN1B3fooEv", "B::foo()");
	check("_ZN1BC1ERKS_", "B::B(B const&)");
	check("_ZL6helperi", "helper(int)");
	check("_ZSt3maxIiERKT_S2_S2_",
	      "int const& std::max<int>(int const&, int const&)");
	check("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
	check("_ZN1B3fooEv.cold", "B::foo() [clone .cold]");
}

static void rust_names_are_readable(void **state)
{
	(void)state;
	check("_RNvC6_123foo3bar", "123foo::bar");
	check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	      "core::fmt::Write::write_fmt");
}

static void c_names_are_left_alone(void **state)
{
	(void)state;
	check("f", "f");
	check("a", "a");
	check("i", "i");
	check("main", "main");
	check("_start", "_start");
	check("", "");
}

static void broken_names_are_left_alone(void **state)
{
	(void)state;
	check("_Z", "_Z");
	check("_ZN1B3foo", "_ZN1B3foo");
	check("_ZN99999999999999E", "_ZN99999999999999E");
	check("_Rgarbage!", "_Rgarbage!");
	check("_Z\xff\xfe", "_Z\xff\xfe");
}

static void long_name_is_cut(void **state)
{
	char out[8];

	(void)state;
	cst_demangle("_ZN1B3fooEv", out, sizeof(out));
	assert_string_equal(out, "B::foo(");
	cst_demangle("long_c_name", out, sizeof(out));
	assert_string_equal(out, "long_c_");
	cst_demangle("f", out, 1);
	assert_string_equal(out, "");
	out[0] = 'x';
	cst_demangle("f", out, 0);
	assert_int_equal(out[0], 'x');
}

static void deep_name_does_no_harm(void **state)
{
	char symbol[100000], out[64];

	(void)state;
	memset(symbol, 'P', sizeof(symbol));
	memcpy(symbol, "_Z1f", 4);
	symbol[sizeof(symbol) - 1] = 0;
	cst_demangle(symbol, out, sizeof(out));
	assert_int_equal(strlen(out), sizeof(out) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names_are_readable),
		cmocka_unit_test(rust_names_are_readable),
		cmocka_unit_test(c_names_are_left_alone),
		cmocka_unit_test(broken_names_are_left_alone),
		cmocka_unit_test(long_name_is_cut),
		cmocka_unit_test(deep_name_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
