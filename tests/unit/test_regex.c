/* SPDX-License-Identifier: MIT
 *
 * What regexes find, what is refused, and that none takes for ever.
 */
#include "base/regex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int is_found(const char *regex, const char *text)
{
	struct cst_error err = {""};
	struct regex *r;
	int is;

	if (regex_compile(&r, regex, &err) < 0)
		fail_msg("%s", err.text);
	is = regex_matches(r, text);
	/* The second time it has an opinion on how, and the same answer. */
	assert_int_equal(regex_matches(r, text), is);
	regex_free(r);
	return is;
}

struct case_of {
	const char *regex, *found_in, *not_in;
};

static void check_cases(const struct case_of *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_found(cases[i].regex, cases[i].found_in))
			fail_msg("%s: not in '%s'", cases[i].regex,
				 cases[i].found_in);
		if (is_found(cases[i].regex, cases[i].not_in))
			fail_msg("%s: in '%s'", cases[i].regex,
				 cases[i].not_in);
	}
}

static void what_is_extended_is_found(void **state)
{
	static const struct case_of cases[] = {
		{"^f$", "f", "f\n"},
		{"sum|product", "a_product", "prod"},
		{"^(a|b)c", "bc", "abc"},
		{"^([a-z]+::)+f\\(int\\)$", "a::b::f(int)", "a::B::f(int)"},
		{"^f{3}(gh){2,}i{0,1}j{1,2}$", "fffghghijj", "ffghghijj"},
		{"^[]+]{2}[^]]$", "]+x", "]+]"},
		{"^[[:alpha:]+]{4}[].=]{2}$", "a+b+].", "a+1+]."},
		{"^(a|b+|(c?d*)+)+$", "bbcdda", "bbcddax"},
		{"^a.b$", "a\nb", "ab"},
		{"x{1000}|y", "y", "x"},
		{"^a\\+\\+\\{9999}\\[$", "a++{9999}[", "a++{9999}"},
		{"\\bget\\w*$", "A::getter", "forget"},
		{"(a)\\1b", "aab", "ab"},
	};

	(void)state;
	check_cases(cases, sizeof(cases) / sizeof(cases[0]));
	assert_true(is_found("()", ""));
}

static void there_is_more_than_that(void **state)
{
	static const struct case_of cases[] = {
		{"(?i)^ORDER", "order", "reorder"},
		{"^(?!std::)", "f", "std::f"},
		{"^\\d+$", "17", "x"},
		{"^[\\]x]$", "]", "\\"},
		{"^vector\\<int\\>$", "vector<int>", "vectorint"},
	};

	(void)state;
	check_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

static void letters_are_those_of_utf8(void **state)
{
	static const struct case_of cases[] = {
		{"^.\xc3\xa9$", "\xc3\xa8\xc3\xa9", "\xa9\xc3\xa9"},
		{"^[\xc3\xa9\xc3\xa8]$", "\xc3\xa8", "\xc3\xaa"},
		{"^leaf.$", "leaf\xff", "leaf"},
	};

	(void)state;
	check_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Each backtracks for longer than anybody lives. */
static void what_explodes_has_its_answer(void **state)
{
	static const struct case_of cases[] = {
		{"(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
		{"^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
		{"^(([a-z])+.)+[A-Z]$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaZ",
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	};

	(void)state;
	check_cases(cases, sizeof(cases) / sizeof(cases[0]));
	/* An automaton has no backreferences. */
	assert_false(is_found("^(a|aa)+\\1b",
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"));
}

static void a_long_text_has_its_answer(void **state)
{
	enum { LEN = 1 << 14 };
	char *text = malloc(LEN + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', LEN);
	text[LEN] = '\0';
	assert_true(is_found("^(a|b)*$", text));
	assert_true(is_found("^(a|b*)*$", text));
	text[LEN - 1] = 'c';
	assert_false(is_found("^(a|b)*$", text));
	free(text);
}

static void check_refused(const char *text, const char *why)
{
	struct cst_error err = {""};
	struct regex *r;

	if (regex_compile(&r, text, &err) != CST_BAD_INPUT || r ||
	    !strstr(err.text, why))
		fail_msg("%.80s: %s", text, err.text);
}

static void what_is_large_is_refused(void **state)
{
	static const char *const cases[] = {
		"((ab){1000}){1000}",
		"((b?){0,3}){1,30000}",
		"((a|b){300}(c|d){300}){300}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(cases[i], "': regular expression is too large");
}

static void what_is_long_or_deep_is_refused(void **state)
{
	enum { LEN = 1 << 20 };
	char *text = malloc(LEN + 1);

	(void)state;
	assert_non_null(text);
	for (const char *c = "a(.|\\"; *c; c++) {
		memset(text, *c, LEN);
		text[LEN] = '\0';
		check_refused(text, "': it is too long");
		text[300] = '\0';
		if (*c == '(')
			check_refused(text, "': parentheses are too deeply");
	}
	free(text);
}

static void what_is_none_is_told(void **state)
{
	static const char *const cases[][2] = {
		{"f(", "bad regex 'f(': missing closing parenthesis"},
		{"f)+)+(", "bad regex 'f)+)+(': unmatched closing parenthesis"},
		{"[[:nosuch:]]", "bad regex '[[:nosuch:]]': unknown POSIX "
				 "class name"},
		{"[[:alpha", "bad regex '[[:alpha': missing terminating ]"},
		{"[a", "bad regex '[a': missing terminating ]"},
		{"*a", "bad regex '*a': quantifier does not follow"},
		{"a{666666666667}", "bad regex 'a{666666666667}': number too "
				    "big"},
		{"\\", "bad regex '\\': \\ at end of pattern"},
		{"\xc3", "': UTF-8 error: "},
		{"\\C", "bad regex '\\C': using \\C is disabled"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(cases[i][0], cases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_extended_is_found),
		cmocka_unit_test(there_is_more_than_that),
		cmocka_unit_test(letters_are_those_of_utf8),
		cmocka_unit_test(what_explodes_has_its_answer),
		cmocka_unit_test(a_long_text_has_its_answer),
		cmocka_unit_test(what_is_large_is_refused),
		cmocka_unit_test(what_is_long_or_deep_is_refused),
		cmocka_unit_test(what_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
