/* SPDX-License-Identifier: MIT
 *
 * Conditions on the values of a call: what they hold for, and what is wrong
 * with those that are none.
 */
#include "names/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* s="12+3", base=16, p={x=1, y=-2}, mode=READ|SYNC, v=[5]{1, ...}, n optimized
 * out, f=2.5, c='a', z=NULL, ok=true, big=2^64 - 1, path="src/ma"...; = -1 */
static const char entry[] =
	"s\00412+3u\020{i\002i\003}n\011READ|SYNC[\005i\002]"
	"of\0\0\0\0\0\0\004\100ca0b\001u\377\377\377\377\377\377\377\377\377"
	"\001"
	"S\006src/ma";
static const char result[] = "i\001";
static const char values[] = "s,base,p,x,y,mode,v,n,f,c,z,ok,big,path,nothing";

static struct names *a_program(void)
{
	struct names *n = names_new();

	for (int i = 0; i < 2; i++) {
		uint32_t id = names_add_function(n, 16u * (unsigned)i);

		names_set_kind(n, id, KIND_FUNCTION, i ? "size" : values);
		names_set_function(n, id, i ? "resize" : "Calc::parse(char*)",
				   NULL, NULL, NULL);
	}
	return n;
}

/* Returns whether parse() meets the condition. */
static int holds(const char *text)
{
	struct names *n = a_program();
	struct cst_error err = {""};
	uint8_t bytes[sizeof(entry) + sizeof(result)];
	struct where *w;
	int is_met;

	memcpy(bytes, entry, sizeof(entry) - 1);
	memcpy(bytes + sizeof(entry) - 1, result, sizeof(result) - 1);
	if (where_new(text, &w, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	is_met = where_holds(w, &n->functions[0], bytes, sizeof(entry) - 1,
			     sizeof(result) - 1);
	where_free(w);
	names_free(n);
	return is_met;
}

static void assert_all(const char *const *texts, int is_met)
{
	for (; *texts; texts++)
		if (holds(*texts) != is_met)
			fail_msg("%s: %d", *texts, !is_met);
}

static const char *const are_met[] = {"base == 16",
				      "base==0x10",
				      "base == 16.0",
				      "base != 17",
				      "base < 17",
				      "base <= 16",
				      "base > -1",
				      "base >= 16",
				      "parse.base == 16",
				      "Calc::parse.base == 16",
				      "result == -1",
				      "parse.result < 0",
				      "result != 0",
				      "s == \"12+3\"",
				      "s == '12+3'",
				      "s < \"2\"",
				      "s =~ \"^12\"",
				      "s =~ '[+]'",
				      "s != NULL",
				      "p.x == 1",
				      "parse.p.y == -2",
				      "p =~ 'y=-2'",
				      "mode == READ|SYNC",
				      "mode == \"READ|SYNC\"",
				      "mode =~ SYNC",
				      "mode != READ",
				      "v.size == 5",
				      "f == 2.5",
				      "f == 25e-1",
				      "f > 2",
				      "c == 'a'",
				      "c == 97",
				      "c < 'b'",
				      "z == NULL",
				      "z == nullptr",
				      "z != 'x'",
				      "ok == true",
				      "ok == 1",
				      "ok != false",
				      "big == 18446744073709551615",
				      "big == 0xffffffffffffffff",
				      "big > 18446744073709551614",
				      "path == \"src/main.c\"",
				      "path =~ '^src'",
				      "path != src",
				      NULL};
static const char *const are_not_met[] = {
	"base == 17", "base != 16", "base < 16", "base > 16", "base == nan",
	"base == inf", "resize.base == 16", "parse.size == 5", "s == \"12\"",
	"s == NULL", "s == 12", "s =~ '^2'", "p.x == 2", "p.z == 1", "p == 1",
	"x == 1", "mode == READ", "mode == 3", "v == 5", "v.size == 1",
	"v.length == 5", "base.x == 16", "f == 2", "f != 2.5", "c == 'b'",
	"c == 'ab'", "z != NULL", "ok == false", "big == 18446744073709551614",
	"path == \"src/b\"", "path != \"src/main.c\"", "path == \"src\"",
	"result == 1", "result.x == 1",
	/* Not known: neither this nor that. */
	"n == 0", "n != 0", "n =~ '.*'", "nothing == 1", "nothing != 1",
	"size == 1", "size != 1", "s != 12", NULL};

static void values_are_compared_as_what_they_are(void **state)
{
	(void)state;
	assert_all(are_met, 1);
	assert_all(are_not_met, 0);
}

static void comparisons_are_joined(void **state)
{
	static const char *const yes[] = {
		"base == 16 && result < 0",
		"base == 17 || result < 0",
		"base == 16 || base == 17 && base == 18",
		"! base == 17",
		"!(base == 17)",
		"!!base == 16",
		"( ( base==16 ) )&&!(f>3||f<2)",
		"n == 1 || base == 16",
		"!(n == 1 && base == 17)",
		"  base\t==\n16  ",
		NULL};
	static const char *const no[] = {
		"base == 16 && result > 0",
		"base == 17 || result > 0",
		"(base == 16 || base == 17) && base == 18",
		"! base == 16",
		"!(n == 1)",
		"!(size == 1)",
		"n == 1 && base == 16",
		"!(n == 1 || base == 17)",
		NULL};

	(void)state;
	assert_all(yes, 1);
	assert_all(no, 0);
}

static void assert_bad(const char *text, const char *why)
{
	struct cst_error err = {""};
	struct where *w;

	assert_int_equal(where_new(text, &w, &err), CST_BAD_INPUT);
	assert_string_equal(err.text, why);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
	char deep[500] = {0};

	(void)state;
	assert_bad("", "bad condition: expected the name of a value at "
		       "character 1, where it ends");
	assert_bad("base = 16",
		   "bad condition: expected ==, !=, <, <=, >, >= or =~ at "
		   "character 6, before '= 16'");
	assert_bad("base",
		   "bad condition: expected a comparison (in quotes, if there "
		   "are blanks) at character 5, where it ends");
	assert_bad("base == ", "bad condition: expected a number, a text or a "
			       "name at character 9, where it ends");
	assert_bad("base == 12ab", "bad condition: expected a number at "
				   "character 9, before '12ab'");
	assert_bad("base == 1 and n == 2",
		   "bad condition: expected &&, || or the end at character 11, "
		   "before 'and n == 2'");
	assert_bad("(base == 1", "bad condition: expected &&, || or a closing "
				 ") at character 11, where it ends");
	assert_bad("s == \"12", "bad condition: expected a text with both of "
				"its quotes at character 6, before '\"12'");
	assert_bad("\303\244 == 1 | 2",
		   "bad condition: expected &&, || or the end at character 8, "
		   "before '| 2'");
	assert_bad("16 == base", "bad condition: expected the name of a value "
				 "at character 1, before '16 == base'");
	assert_bad("a.b.c.d.e.f.g.h.i == 1",
		   "bad condition: expected the end of the name at character "
		   "17, before 'i == 1'");
	assert_bad("s =~ 3", "bad condition: =~ takes a regex, in quotes");
	assert_bad("s =~ '('", "bad regex '(': missing closing parenthesis");
	memset(deep, '(', 400);
	assert_bad(deep, "bad condition: its brackets and ! are more than 32 "
			 "deep");
	memset(deep, '!', 400);
	assert_bad(deep, "bad condition: its brackets and ! are more than 32 "
			 "deep");
}

static void a_condition_has_so_many_parts(void **state)
{
	char text[2000] = "";

	(void)state;
	for (int i = 0; i < 64; i++)
		strcat(text, i ? "||n==1" : "n==1");
	assert_false(holds(text));
	strcat(text, "||n==1");
	assert_bad(text, "bad condition: it has more than 128 parts");
}

static void assert_knows(const char *text, const char *expected)
{
	struct names *n = a_program();
	struct cst_error err = {""};
	char wrong[200] = "";
	struct where *w;

	assert_int_equal(where_new(text, &w, &err), 0);
	assert_int_equal(where_knows(w, n, wrong, sizeof(wrong)), !*expected);
	assert_string_equal(wrong, expected);
	where_free(w);
	names_free(n);
}

static void names_that_nothing_has_are_found(void **state)
{
	(void)state;
	assert_knows("base == 16 && parse.s == 'a' || resize.size > 2", "");
	assert_knows("result == 1 || parse.result == 1 || p.x == 2", "");
	assert_knows("bas == 16",
		     "no function has a value 'bas': did you mean base?");
	assert_knows("base == 1 && parse.bas == 16",
		     "parse() has no value 'bas': did you mean base?");
	assert_knows("pars.base == 16",
		     "no function matches 'pars': did you mean Calc::parse?");
	assert_knows("resize.base == 16", "resize() has no value 'base'");
	assert_knows("xyzzy == 16", "no function has a value 'xyzzy'");
}

/* Within bounds, and without crossing the stack, whatever the text. */
static void any_text_does_no_harm(void **state)
{
	static const char *const words[] = {
		"base", ".",  "==", "!",    "(", ")", "&&", "||",
		"16",	"\"", "'",  "=~",   "<", "-", "0x", "parse",
		" ",	"|",  "\\", "\303", "e", ":",
	};
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct cst_error err;
		char text[200] = "";
		struct where *w;

		for (int k = 0; k < 12; k++) {
			seed = seed * 6364136223846793005u + 1;
			strcat(text, words[(seed >> 40) % 22]);
		}
		if (where_new(text, &w, &err) == 0)
			where_free(w);
	}
}

/* Within bounds, whatever the values. */
static void any_values_do_no_harm(void **state)
{
	static const char tags[] = "iuxpfcbsS0?dno{}[]{[";
	struct names *names = a_program();
	struct cst_error err;
	struct where *w;
	uint64_t seed = 7;

	(void)state;
	assert_int_equal(
		where_new("parse.s < 'b' || base > 3 || p.x == NULL || p =~ "
			  "'[=]1' || mode =~ A || v.size > 2 || path == a",
			  &w, &err),
		0);
	for (int i = 0; i < 20000; i++) {
		uint32_t n = (uint32_t)i % 40;
		uint8_t *bytes = malloc(n + (size_t)10);

		assert_non_null(bytes);
		for (uint32_t k = 0; k < n + 10; k++) {
			seed = seed * 6364136223846793005u + 1;
			bytes[k] = seed >> 33 & 3
					   ? (uint8_t)tags[(seed >> 48) %
							   (sizeof(tags) - 1)]
					   : (uint8_t)(seed >> 48);
		}
		where_holds(w, &names->functions[i % 2], bytes, n, 10);
		free(bytes);
	}
	where_free(w);
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_compared_as_what_they_are),
		cmocka_unit_test(comparisons_are_joined),
		cmocka_unit_test(what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(a_condition_has_so_many_parts),
		cmocka_unit_test(names_that_nothing_has_are_found),
		cmocka_unit_test(any_text_does_no_harm),
		cmocka_unit_test(any_values_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
