/* SPDX-License-Identifier: MIT
 *
 * All calls as one folded tree, its parts, and answers for machines.
 */
#include "trace_builder.h"

static const struct cst_choice everything = {.std = 1};

static const char *text_of(struct cst_trace *t, struct cst_graph graph)
{
	static struct output out;
	struct cst_error err = {""};

	out.len = 0;
	out.text[0] = '\0';
	if (cst_trace_graph(t, &graph, &everything, output_write, &out, &err) <
	    0)
		fail_msg("%s", err.text);
	return out.text;
}

/* Calls, total and self of each row in ns, its share, and its indented name. */
static const char *rows(struct cst_trace *t, struct cst_graph graph)
{
	static char found[4096];
	const char *line = text_of(t, graph);
	char *p = found;

	*p = '\0';
	for (; *line; line = strchr(line, '\n') + 1) {
		unsigned n, total, self, percent;
		int name = 0, len = (int)strcspn(line, "\n");

		if (!strncmp(line, "#    CALLS", 10))
			continue;
		if (sscanf(line, "%u %u ns %u ns %u.%*u%% %n", &n, &total,
			   &self, &percent, &name) == 4 &&
		    name)
			p += sprintf(p, "%u %u %u %u%% %.*s\n", n, total, self,
				     percent, len - 44, line + 44);
		else if (*line == '#')
			p += sprintf(p, "%.*s\n", len, line);
		else
			p += sprintf(p, "%u %.*s\n", (unsigned)atoi(line),
				     len - 44, line + 44);
	}
	return found;
}

/* main calls f, which calls g, which calls f, which calls h; then f calls h;
 * then main calls h. */
static struct cst_trace *f_again(void)
{
	struct draft d;
	uint64_t main, f, g, again, h;
	uint32_t f_site, g_site, h_site;

	draft_begin(&d);
	main = draft_enter(&d, draft_site(&d, "main", 0), 0);
	f_site = draft_site(&d, "f", 10);
	g_site = draft_site(&d, "g", 20);
	h_site = draft_site(&d, "h", 30);
	f = draft_enter(&d, f_site, 100);
	g = draft_enter(&d, g_site, 110);
	again = draft_enter(&d, f_site, 120);
	h = draft_enter(&d, h_site, 130);
	draft_exit(&d, h, 135);
	draft_exit(&d, again, 160);
	draft_exit(&d, g, 180);
	h = draft_enter(&d, h_site, 190);
	draft_exit(&d, h, 199);
	draft_exit(&d, f, 300);
	h = draft_enter(&d, h_site, 400);
	draft_exit(&d, h, 500);
	draft_exit(&d, main, 800);
	return draft_trace(&d, 800);
}

static void recursion_is_folded_and_its_time_counts_once(void **state)
{
	struct cst_trace *t = f_again();

	(void)state;
	assert_string_equal(rows(t, (struct cst_graph){0}),
			    "1 800 500 100% main\n"
			    "2 200 156 25%   f\n"
			    "1 70 30 8%     g\n"
			    "1       f  (recursive)\n"
			    "2 14 14 1%     h\n"
			    "1 100 100 12%   h\n");
	cst_trace_free(t);
}

static void a_function_has_its_callers_above_and_callees_below(void **state)
{
	struct cst_trace *t = f_again();

	(void)state;
	assert_string_equal(rows(t, (struct cst_graph){.function = "^h$"}),
			    "# Callers: each line calls the one that it is "
			    "indented below\n"
			    "3 114 114 100% h\n"
			    "1 100 100 87%   main\n"
			    "2 14 14 12%   f\n"
			    "2 14 14 12%     main\n"
			    "# Callees\n"
			    "3 114 114 100% h\n");
	assert_string_equal(rows(t, (struct cst_graph){.function = "^f$"}),
			    "# Callers: each line calls the one that it is "
			    "indented below\n"
			    "2 200 156 100% f\n"
			    "1 200 121 100%   main\n"
			    "1 0 35 0%   g\n"
			    "1     f  (recursive)\n"
			    "# Callees\n"
			    "2 200 156 100% f\n"
			    "1 70 30 35%   g\n"
			    "1     f  (recursive)\n"
			    "2 14 14 7%   h\n");
	cst_trace_free(t);
}

static void several_functions_have_a_tree_each(void **state)
{
	struct cst_trace *t = f_again();

	(void)state;
	/* Within g, f is a row of its own: it has a tree. */
	assert_string_equal(
		rows(t, (struct cst_graph){.function = "^[fg]$", .depth = 2}),
		"# Callers: each line calls the one that it is "
		"indented below\n"
		"2 200 156 100% f\n"
		"1 200 121 100%   main\n"
		"1 0 35 0%   g\n"
		"1 70 30 35% g\n"
		"1 70 30 35%   f\n"
		"# Callees\n"
		"2 200 156 100% f\n"
		"2 14 14 7%   h\n"
		"1   g  (recursive)\n"
		"1 70 30 35% g\n"
		"1   f  (recursive)\n"
		"# 2 rows are left out; -depth 0 shows them\n");
	cst_trace_free(t);
}

static void rows_are_sorted_and_left_out(void **state)
{
	struct cst_trace *t = f_again();

	(void)state;
	assert_string_equal(
		rows(t, (struct cst_graph){.depth = 2, .sort = CST_SORT_SELF}),
		"1 800 500 100% main\n"
		"2 200 156 25%   f\n"
		"1 100 100 12%   h\n"
		"# 3 rows are left out; -depth 0 shows them\n");
	assert_string_equal(rows(t, (struct cst_graph){.limit = 3}),
			    "1 800 500 100% main\n"
			    "2 200 156 25%   f\n"
			    "1 100 100 12%   h\n"
			    "# 3 rows are left out; -limit 0 shows them\n");
	assert_string_equal(
		rows(t, (struct cst_graph){.min_share_ppm = 200000}),
		"1 800 500 100% main\n"
		"2 200 156 25%   f\n"
		"# 4 rows are left out; -min-share 0 shows them\n");
	assert_string_equal(rows(t, (struct cst_graph){.limit = 5, .depth = 9}),
			    "1 800 500 100% main\n"
			    "2 200 156 25%   f\n"
			    "1 70 30 8%     g\n"
			    "2 14 14 1%     h\n"
			    "1 100 100 12%   h\n"
			    "# 1 row is left out; -depth 0 -limit 0 show it\n");
	cst_trace_free(t);
}

static void nothing_is_written_of_functions_that_are_not_there(void **state)
{
	struct cst_trace *t = f_again();

	(void)state;
	assert_string_equal(text_of(t, (struct cst_graph){.function = "nope"}),
			    "");
	cst_trace_free(t);
}

/* Deeper than a stack of C could follow. */
static void depth_has_no_limit(void **state)
{
	enum { DEEP = 200000 };
	struct draft d;
	struct cst_trace *t;
	uint64_t *open = calloc(DEEP, sizeof(*open));
	uint32_t sites[2];

	(void)state;
	assert_non_null(open);
	draft_begin(&d);
	sites[0] = draft_site(&d, "even", 1);
	sites[1] = draft_site(&d, "odd", 2);
	for (uint64_t i = 0; i < DEEP; i++)
		open[i] = draft_enter(&d, sites[i % 2], i);
	for (uint64_t i = DEEP; i--;)
		draft_exit(&d, open[i], 2 * DEEP - i);
	free(open);
	t = draft_trace(&d, 2 * DEEP);
	assert_non_null(strstr(text_of(t, (struct cst_graph){0}),
			       "    100000  400.000 us"));
	assert_non_null(strstr(text_of(t, (struct cst_graph){0}),
			       "     99999           -           -       -"
			       "      even  (recursive)\n"));
	cst_trace_free(t);
}

static void csv_has_a_line_of_columns_and_quotes_names(void **state)
{
	struct draft d;
	struct cst_trace *t;

	(void)state;
	draft_begin(&d);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "f(int, \"x\")", 1), 0),
		   40);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "g", 1), 50), 60);
	t = draft_trace(&d, 100);
	assert_non_null(
		strstr(text_of(t, (struct cst_graph){.output = CST_OUTPUT_CSV}),
		       "\"f(int, \"\"x\"\")\""));
	assert_non_null(strstr(
		text_of(t, (struct cst_graph){.output = CST_OUTPUT_JSON}),
		"\"calls\": 1, \"total_ns\": 10, \"self_ns\": 10, "
		"\"share_percent\": 20.000, "));
	cst_trace_free(t);
}

static void times_with_a_stop_in_them_are_marked(void **state)
{
	struct draft d;
	struct cst_trace *t;
	uint64_t main, f;

	(void)state;
	draft_begin(&d);
	main = draft_enter(&d, draft_site(&d, "main", 0), 0);
	f = draft_enter(&d, draft_site(&d, "f", 10), 100);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "g", 20), 101), 102);
	writer_pause(d.w, DRAFT_START + 110, 1000);
	draft_exit(&d, f, 200);
	draft_exit(&d, main, 300);
	t = draft_trace(&d, 300);
	assert_string_equal(
		text_of(t, (struct cst_graph){0}),
		"#    CALLS       TOTAL        SELF   SHARE  FUNCTION\n"
		"         1      300 ns*     200 ns  100.0%  main\n"
		"         1      100 ns*      99 ns*  33.3%    f\n"
		"         1        1 ns        1 ns    0.3%      g\n"
		"# *: gdb stopped the program in such a call; the time "
		"includes what that took\n");
	assert_non_null(
		strstr(text_of(t, (struct cst_graph){.output = CST_OUTPUT_JSON,
						     .function = "^f$"}),
		       "\"is_recursive\": false, \"stopped_calls\": 1}"));
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_is_folded_and_its_time_counts_once),
		cmocka_unit_test(
			a_function_has_its_callers_above_and_callees_below),
		cmocka_unit_test(several_functions_have_a_tree_each),
		cmocka_unit_test(rows_are_sorted_and_left_out),
		cmocka_unit_test(
			nothing_is_written_of_functions_that_are_not_there),
		cmocka_unit_test(depth_has_no_limit),
		cmocka_unit_test(times_with_a_stop_in_them_are_marked),
		cmocka_unit_test(csv_has_a_line_of_columns_and_quotes_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
