/* SPDX-License-Identifier: MIT
 *
 * Values as rows and as JSON have them, and bytes that are none.
 */
#include "names/values_json.h"
#include "names/values_text.h"

#include "cstrace/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Asserts the row and the JSON of a call with these values. */
static void assert_written(const char *bytes, uint32_t n, const char *names,
			   const char *row, const char *json)
{
	struct function f = {.name = "f", .values = names};
	struct values *v = values_new(bytes, n, NULL, 0);
	char text[VALUES_ROOM];
	struct bytes out = {0};

	*values_put_row(text, &f, v, 0) = 0;
	assert_string_equal(text, row);
	values_put_json(&out, bytes, n, names);
	bytes_put_byte(&out, 0);
	assert_string_equal((char *)out.data, json);
	bytes_release(&out);
	values_drop(v);
}

#define WRITTEN(bytes, names, row, json) \
	assert_written(bytes, sizeof(bytes) - 1, names, row, json)

static void structs_and_arrays_are_one_value(void **state)
{
	(void)state;
	WRITTEN("{i\002i\004}n\004READn\007compare[\005i\002i\004i\006]o?",
		"p,x,y,mode,cb,v,n,m",
		"(p={x=1, y=2}, mode=READ, cb=compare, v=[5]{1, 2, 3, ...}, "
		"n=<optimized out>, m=<cannot read>)",
		"{\"p\":{\"x\":1,\"y\":2},\"mode\":\"READ\","
		"\"cb\":\"compare\",\"v\":{\"size\":5,\"head\":[1,2,3]},"
		"\"n\":\"<optimized out>\",\"m\":\"<cannot read>\"}");
	WRITTEN("[\0]{}i\003", "v,e,n", "(v=[0]{}, e={}, n=-2)",
		"{\"v\":{\"size\":0,\"head\":[]},\"e\":{},\"n\":-2}");
	/* Too long to have its elements copied. */
	WRITTEN("[\007]", "v", "(v=[7]{...})",
		"{\"v\":{\"size\":7,\"head\":[]}}");
	/* What is in an array has no names, so none is used up. */
	WRITTEN("[\002{i\002{s\001a}}]i\002", "v,n",
		"(v=[2]{{1, {\"a\"}}, ...}, n=1)",
		"{\"v\":{\"size\":2,\"head\":[{\"1\":1,\"2\":{\"1\":\"a\"}}]},"
		"\"n\":1}");
}

static void what_has_no_end_or_is_too_deep_is_no_value(void **state)
{
	(void)state;
	WRITTEN("i\002{i\002", "n,p,x", "(n=1)", "{\"n\":1}");
	WRITTEN("i\002[\001i\002", "n,v", "(n=1)", "{\"n\":1}");
	WRITTEN("i\002{i\002]", "n,p,x", "(n=1)", "{\"n\":1}");
	WRITTEN("i\002}i\002", "n,m", "(n=1)", "{\"n\":1}");
	WRITTEN("{{{{}}}}", "a,b,c,d", "(a={b={c={d={}}}})",
		"{\"a\":{\"b\":{\"c\":{\"d\":{}}}}}");
	WRITTEN("{{{{{}}}}}", "a,b,c,d,e", "", "{}");
	WRITTEN("[\001[\001[\001[\001[\001]]]]]", "a", "", "{}");
	WRITTEN("n\004abc", "n", "", "{}");
}

/* Within bounds, whatever they are. */
static void any_bytes_do_no_harm(void **state)
{
	static const char tags[] = "iuxpfcbsS0?dno{}[]{[";
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct function f = {.name = "f", .values = "a,b,,\xff,c"};
		char text[VALUES_ROOM], bytes[48];
		struct bytes out = {0};
		struct values *v;

		for (size_t n = 0; n < sizeof(bytes); n++) {
			seed = seed * 6364136223846793005u + 1;
			bytes[n] = seed >> 33 & 3 ? tags[(seed >> 48) %
							 (sizeof(tags) - 1)]
						  : (char)(seed >> 48);
		}
		v = values_new(bytes, (uint32_t)(seed >> 40) % 30, bytes + 30,
			       (uint32_t)(seed >> 20) % 18);
		f.kind = i % 3 ? KIND_FUNCTION : KIND_MESSAGE;
		assert_true(values_put_row(text, &f, v, 0) - text <
			    VALUES_ROOM);
		values_put_json(&out, v->data, v->n, f.values);
		bytes_release(&out);
		values_drop(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_and_arrays_are_one_value),
		cmocka_unit_test(what_has_no_end_or_is_too_deep_is_no_value),
		cmocka_unit_test(any_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
