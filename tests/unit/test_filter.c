/* SPDX-License-Identifier: MIT
 *
 * What a choice shows of main > sort > (std) introsort > less, and its like.
 */
#include "trace_builder.h"

#include "names/filter.h"

#include <unistd.h>

/* main 0-100us { outer 1-90 { std::sort 2-80 { less 3-4, less 5-70 } } leaf }
 */
static struct cst_trace *sorting(void)
{
	struct draft d;
	uint32_t s_main, s_outer, s_sort, s_less, s_leaf;
	uint64_t m, o, s, l;

	draft_begin(&d);
	s_main = draft_site(&d, "main", 0);
	s_outer = draft_site(&d, "outer()", 10);
	s_sort = draft_site(&d, "void std::sort<int*>(int*, int*)", 11);
	s_less = draft_site(&d, "less(int, int)", 12);
	s_leaf = draft_site(&d, "leaf()", 13);
	m = draft_enter(&d, s_main, 0);
	o = draft_enter(&d, s_outer, 1000);
	s = draft_enter(&d, s_sort, 2000);
	l = draft_enter(&d, s_less, 3000);
	draft_exit(&d, l, 4000);
	l = draft_enter(&d, s_less, 5000);
	draft_exit(&d, l, 70000);
	draft_exit(&d, s, 80000);
	draft_exit(&d, o, 90000);
	l = draft_enter(&d, s_leaf, 95000);
	draft_exit(&d, l, 96000);
	draft_exit(&d, m, 100000);
	return draft_trace(&d, 100000);
}

static void check_shown(const struct cst_choice *choice, const char *expected)
{
	const struct cst_look bare = {0};
	struct cst_trace *t = sorting();

	assert_string_equal(draft_rows(t, &bare, choice), expected);
	cst_trace_free(t);
}

static void std_is_hidden_and_its_callees_stay(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){0}, "main\n"
					     "  outer\n"
					     "    less\n"
					     "    less\n"
					     "  leaf\n");
}

static void std_is_shown_when_asked_for(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){.std = 1}, "main\n"
						    "  outer\n"
						    "    std::sort<...>\n"
						    "      less\n"
						    "      less\n"
						    "  leaf\n");
}

static void a_filter_shows_matches_and_what_they_call(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){.filter = "^outer"}, "outer\n"
							      "  less\n"
							      "  less\n");
}

static void exclude_leaves_the_callees(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){.exclude = "outer|leaf"}, "main\n"
								   "  less\n"
								   "  less\n");
}

static void depth_counts_visible_calls(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){.depth = 2, .exclude = "outer"},
		    "main\n"
		    "  less\n"
		    "  less\n"
		    "  leaf\n");
	check_shown(&(struct cst_choice){.depth = 1}, "main\n");
}

static void min_time_hides_short_calls(void **state)
{
	(void)state;
	check_shown(&(struct cst_choice){.min_ns = 10000}, "main\n"
							   "  outer\n"
							   "    less\n");
}

static void a_bad_regex_is_told(void **state)
{
	const struct cst_choice choice = {.exclude = "f("};
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_choice_check(&choice, &err), CST_BAD_INPUT);
	assert_string_equal(err.text,
			    "bad regex 'f(': missing closing parenthesis");
}

/* "order" is the name of one of them once that is there. */
static void a_name_is_taken_for_itself_first(void **state)
{
	const struct cst_choice choice = {.exclude = "order"};
	static const char *const all[] = {"reorder(int)", "Shop::order(int)",
					  "order()"};
	struct names *names = names_new();
	struct filter *f;

	(void)state;
	assert_int_equal(filter_new(&choice, &f, NULL), 0);
	for (uint32_t n = 0; n < 3; n++) {
		uint32_t id = names_add_function(names, n + 1);

		names_set_function(names, id, all[n], NULL, NULL, NULL);
		/* the newest fits better than all before it */
		for (uint32_t i = n + 1; i-- > 0;)
			assert_int_equal(filter_excludes(f, names, i), i == n);
	}
	filter_free(f);
	names_free(names);
}

static void a_renamed_function_is_judged_again(void **state)
{
	const struct cst_choice choice = {.exclude = "^hidden$"};
	struct names *names = names_new();
	struct filter_state below;
	struct filter *f;
	uint32_t id = names_add_function(names, 1);

	(void)state;
	names_set_function(names, id, "hidden", NULL, NULL, NULL);
	assert_int_equal(filter_new(&choice, &f, NULL), 0);
	assert_false(filter_enter(f, names, id, filter_root(f), &below));
	assert_true(filter_excludes(f, names, id));
	names_set_function(names, id, "seen", NULL, NULL, NULL);
	filter_forget(f, id);
	assert_true(filter_enter(f, names, id, filter_root(f), &below));
	assert_int_equal(below.depth, 1);
	filter_free(f);
	names_free(names);
}

/* With no such function a word is a regex; there is one, but others are called
 * first. */
static void a_name_that_the_program_has_means_itself(void **state)
{
	struct cst_choice choice = {.exclude = "order"};
	struct names *names = names_new();
	uint32_t id = names_add_function(names, 16);
	struct filter *f;

	(void)state;
	names_set_function(names, id, "shop::orders(int)", NULL, NULL, NULL);
	assert_int_equal(filter_new(&choice, &f, NULL), 0);
	assert_true(filter_excludes(f, names, id));
	assert_false(filter_hear(f, "_ZN4shop6ordersEi"));
	assert_false(filter_hear(f, "reorder"));
	assert_true(filter_excludes(f, names, id));
	assert_true(filter_hear(f, "_ZN4shop5orderEi"));
	assert_false(filter_excludes(f, names, id));
	assert_false(filter_hear(f, "_ZN4shop5orderEv"));
	filter_free(f);
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(std_is_hidden_and_its_callees_stay),
		cmocka_unit_test(std_is_shown_when_asked_for),
		cmocka_unit_test(a_filter_shows_matches_and_what_they_call),
		cmocka_unit_test(exclude_leaves_the_callees),
		cmocka_unit_test(depth_counts_visible_calls),
		cmocka_unit_test(min_time_hides_short_calls),
		cmocka_unit_test(a_bad_regex_is_told),
		cmocka_unit_test(a_name_is_taken_for_itself_first),
		cmocka_unit_test(a_renamed_function_is_judged_again),
		cmocka_unit_test(a_name_that_the_program_has_means_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
