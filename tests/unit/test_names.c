/* SPDX-License-Identifier: MIT
 *
 * Which functions are the library's, strings kept once, what is dirty.
 */
#include "trace_builder.h"

static int is_std(const char *name, const char *file)
{
	struct names *n = names_new();
	uint32_t id = names_add_function(n, 0x1000);
	int answer;

	names_set_function(n, id, name, NULL, NULL, file);
	answer = n->functions[id].is_std;
	names_free(n);
	return answer;
}

static void library_names_are_std(void **state)
{
	static const char *const names[] = {
		"std::sort(int*, int*)",
		"std::vector<int, std::allocator<int> >::push_back(int&&)",
		"void std::__introsort_loop<int*, long>(int*, int*, long)",
		"bool __gnu_cxx::operator==<int*>(int* const&)",
		"std::ostream& std::operator<< <char>(std::ostream&)",
		"decltype (std::forward<int>(1)) std::invoke<int>(int)",
		"non-virtual thunk to std::strstream::~strstream()",
		"std::foo() [clone .cold]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!is_std(names[i], NULL))
			fail_msg("not std: %s", names[i]);
}

static void own_names_that_mention_std_are_not(void **state)
{
	static const char *const names[] = {
		"std::enable_if<true, int>::type foo<int>(int)",
		"void foo<std::string>(std::string)",
		"decltype(auto) bar<int>()",
		"std::string (anonymous namespace)::name(int)",
		"Shape::operator std::string() const",
		"bool operator< (A const&, std::string const&)",
		"main::{lambda(std::string)#1}::operator()(std::string) const",
		"stdout_write",
		"void (*pick<std::string>(int))(int)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_std(names[i], NULL))
			fail_msg("std: %s", names[i]);
}

static void system_headers_are_std(void **state)
{
	(void)state;
	assert_true(is_std("f()", "/usr/include/c++/12/bits/stl_algo.h"));
	assert_true(is_std("f()", "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../"
				  "../../../include/c++/12/iostream"));
	assert_true(is_std("f()", "/usr/lib/llvm-14/include/x.h"));
	assert_false(is_std("f()", "/home/me/include/x.h"));
	assert_false(is_std("f()", "src/x.c"));
}

static void equal_strings_are_one(void **state)
{
	struct names *n = names_new();
	char text[32];
	const char *first = names_intern(n, "text 0");

	(void)state;
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		names_intern(n, text);
	}
	assert_ptr_equal(names_intern(n, "text 0"), first);
	assert_string_equal(first, "text 0");
	assert_null(names_intern(n, NULL));
	names_free(n);
}

static void a_function_without_name_has_its_address(void **state)
{
	struct names *n = names_new();

	(void)state;
	names_add_function(n, 0x401136);
	assert_string_equal(n->functions[0].name, "0x401136");
	names_free(n);
}

static void each_change_is_dirty_once(void **state)
{
	struct names *n = names_new();

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		names_add_site(n, names_add_function(n, i));
	names_set_site(n, 7, "a.c", 1);
	assert_int_equal(n->n_dirty_sites, 1000);
	names_clean(n);
	names_set_site(n, 7, "a.c", 2);
	names_set_site(n, 7, "a.c", 3);
	assert_int_equal(n->n_dirty_sites, 1);
	assert_int_equal(n->n_dirty_functions, 0);
	names_dirty(n);
	assert_int_equal(n->n_dirty_functions, 1000);
	names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library_names_are_std),
		cmocka_unit_test(own_names_that_mention_std_are_not),
		cmocka_unit_test(system_headers_are_std),
		cmocka_unit_test(equal_strings_are_one),
		cmocka_unit_test(a_function_without_name_has_its_address),
		cmocka_unit_test(each_change_is_dirty_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
