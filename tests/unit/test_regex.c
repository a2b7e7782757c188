/* SPDX-License-Identifier: MIT
 *
 * What is compiled, and that nothing that is refused has been tried.
 */
#include "base/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_asked_for_is_compiled(void **state)
{
	static const char *const cases[][2] = {
		{"^f$", "f"},
		{"^([a-z]+::)+f\\(int\\)$", "a::b::f(int)"},
		{"^f{3}(gh){2,}i{0,1}j{,2}$", "fffghghijj"},
		{"^[]+]{2}[^]]$", "]+x"},
		{"^[[:alpha:]+]{4}[[.].][=+=]]{2}$", "a+b+]+"},
		{"^(a|b+|(c?d*)+)+$", "bbcdda"},
		{"x{1000}{60}|y", "y"},
		{"^a\\+\\+\\{9999}\\[$", "a++{9999}["},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cst_error err = {""};
		regex_t regex;

		if (regex_compile(&regex, cases[i][0], &err) < 0)
			fail_msg("%s", err.text);
		if (regexec(&regex, cases[i][1], 0, NULL, 0))
			fail_msg("%s", cases[i][0]);
		regfree(&regex);
	}
}

static void check_too_much(const char *text)
{
	struct cst_error err = {""};
	regex_t regex;

	if (regex_compile(&regex, text, &err) != CST_BAD_INPUT ||
	    !strstr(err.text, "': it repeats too much"))
		fail_msg("%.80s: %s", text, err.text);
}

static void what_explodes_is_refused(void **state)
{
	static const char *const cases[] = {
		"a++++++++++++++++++++++++++++++++++++++++++++++++++++++++",
		"((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)"
		"+)+)+)+)+)+)+",
		"a{1000}{1000}",
		"(x{32767}|y{32767})",
		"(x{300}(y{300}(z{300}(x{300}(y{300}z{300}){4}){4}){4}){4}){4}",
		"(b?){,30000}",
		"[]a{2}[]{30000}{3}",
		"a***+++++++++++++",
		"((a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?"
		"(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?(a|b*)?)*",
		"(a?){3000}",
		"(a?){0,3000}",
		"[[:alpha:]]{30000}{3}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_too_much(cases[i]);
}

static void what_is_long_or_deep_is_refused(void **state)
{
	const size_t len = 1 << 20;
	char *text = malloc(len + 1);

	(void)state;
	assert_non_null(text);
	text[len] = '\0';
	for (const char *c = "a(.|\\"; *c; c++) {
		memset(text, *c, len);
		check_too_much(text);
	}
	free(text);
}

static void what_explodes_far_too_much_is_refused(void **state)
{
	enum { TIMES = 10000 };
	static const char part[] = "(a|b*)?";
	char *text = malloc(TIMES * sizeof(part) + 4), *p = text;

	(void)state;
	assert_non_null(text);
	*p++ = '(';
	for (int i = 0; i < TIMES; i++)
		p = stpcpy(p, part);
	strcpy(p, ")*");
	check_too_much(text);
	free(text);
}

static void what_is_none_is_told(void **state)
{
	static const char *const cases[][2] = {
		{"f(", "bad regex 'f(': Unmatched ( or \\("},
		{"f)+)+(", "bad regex 'f)+)+(': Unmatched ( or \\("},
		{"[[:nosuch:]]", "bad regex '[[:nosuch:]]': Invalid character "
				 "class name"},
		{"[[:alpha", "bad regex '[[:alpha': "},
		{"[a", "bad regex '[a': "},
		{"a{2", "bad regex 'a{2': "},
		{"{666666666667}a", "bad regex '{666666666667}a': "},
		{"\\", "bad regex '\\': Trailing backslash"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cst_error err = {""};
		regex_t regex;

		assert_int_equal(regex_compile(&regex, cases[i][0], &err),
				 CST_BAD_INPUT);
		if (strncmp(err.text, cases[i][1], strlen(cases[i][1])))
			fail_msg("%s: %s", cases[i][0], err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_compiled),
		cmocka_unit_test(what_explodes_is_refused),
		cmocka_unit_test(what_is_long_or_deep_is_refused),
		cmocka_unit_test(what_explodes_far_too_much_is_refused),
		cmocka_unit_test(what_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
