/* SPDX-License-Identifier: MIT
 *
 * Two small traces, drawn as text, and what is written of their difference.
 */
#include "trace_from_text.h"

static const struct cst_choice everything = {.std = 1};

static struct output out;

static int64_t diff_of(struct cst_trace *a, struct cst_trace *b,
		       const struct cst_choice *choice, int32_t percent)
{
	struct cst_error err = {""};
	int64_t result;

	out.len = 0;
	out.text[0] = '\0';
	result = cst_trace_diff(
		a, b, &(struct cst_diff){.limit = 20, .percent = percent},
		choice, output_write, &out, &err);
	if (result < 0)
		fail_msg("%s", err.text);
	cst_trace_free(a);
	cst_trace_free(b);
	return result;
}

static int64_t diff(const char *a, const char *b)
{
	return diff_of(sketch_trace(a), sketch_trace(b), &everything, -1);
}

static void has(const char *part)
{
	if (!strstr(out.text, part))
		fail_msg("no '%s' in:\n%s", part, out.text);
}

static void has_not(const char *part)
{
	if (strstr(out.text, part))
		fail_msg("'%s' in:\n%s", part, out.text);
}

static void equal_flows_are_the_same(void **state)
{
	(void)state;
	assert_int_equal(diff("main\n  f:3\n  g:4\n", "main\n  f:3\n  g:4\n"),
			 0);
	has("The flow is the same.\n");
}

static void a_call_added_in_the_middle_is_one_difference(void **state)
{
	(void)state;
	assert_int_equal(diff("main\n  f:3\n  g:4\n    h:9\n  f:5\n",
			      "main\n  f:3\n  x:4\n  g:4\n    h:9\n  f:5\n"),
			 CST_DIFFERS_IN_FLOW);
	assert_string_equal(
		out.text,
		"--- the recorded trace  (A: 5 calls in 1 thread)\n"
		"+++ the recorded trace  (B: 6 calls in 1 thread)\n"
		"\n"
		"In thread 1 the flows part after 2 equal calls: 1.3 g in A, "
		"1.3 x in B\n"
		"# A      B      CALL  (FROM)\n"
		"  1.1    1.1    main  app.c\n"
		"  1.2    1.2      f  app.c:3\n"
		"+        1.3      x  app.c:4\n"
		"  1.3    1.4      g  app.c:4  (and 1 call below it)\n"
		"  1.5    1.6      f  app.c:5\n"
		"\n"
		"#        A           B      CHANGE           CALL  (FROM)  in "
		"CALLER\n"
		"         0           1          +1  added    x  app.c:4  in "
		"main\n");
}

static void a_call_that_is_missing_below_another_is_found(void **state)
{
	(void)state;
	diff("main\n  f:3\n    g:9\n  f:3\n", "main\n  f:3\n  f:3\n");
	has("after 2 equal calls: 1.3 g in A, 1.3 f in B\n");
	has("- 1.3               g  app.c:9\n"
	    "  1.4    1.3      f  app.c:3\n");
	has("         1           0          -1  missing  g  app.c:9  in f\n");
}

static void what_comes_instead_is_told(void **state)
{
	(void)state;
	diff("main\n  f:3\n  g:4\n", "main\n  f:3\n    x:9\n  h:4\n");
	has("1.3 g in A, 1.3 x in B\n");
	has("+        1.3        x  app.c:9\n"
	    "- 1.3             g  app.c:4\n"
	    "+        1.4      h  app.c:4\n");
}

static void what_goes_on_otherwise_is_marked(void **state)
{
	(void)state;
	diff("main\n  f:3\n  k:5\n  g:4\n    h:9\n",
	     "main\n  f:3\n  g:4\n    h:9\n    h:9\n");
	has("- 1.3             k  app.c:5\n");
	has("~ 1.4    1.3      g  app.c:4  (calls below it differ: 1, 2)\n");
}

static void order_alone_is_a_difference(void **state)
{
	(void)state;
	assert_int_equal(diff("main\n  f:3\n  g:4\n", "main\n  g:4\n  f:3\n"),
			 CST_DIFFERS_IN_FLOW);
	has("Each call is made as often in both.\n");
}

static void how_a_call_ended_counts_last(void **state)
{
	(void)state;
	assert_int_equal(diff("main\n  f:3\n", "main\n  f:3!\n"),
			 CST_DIFFERS_IN_FLOW);
	has("a call ends otherwise after 1 equal call: 1.2 f");
	has("- 1.2             f  app.c:3  (returned)\n"
	    "+        1.2      f  app.c:3  (unwound)\n");
	/* Calls come first: an open main says nothing. */
	diff("main\n  f:3\n", "main?\n  g:3\n");
	has("1.2 f in A, 1.2 g in B\n");
}

static void lines_that_moved_are_the_same(void **state)
{
	(void)state;
	assert_int_equal(diff("main\n  f:13\n  g:14\n    f:5\n",
			      "main\n  f:23\n  g:24\n    f:5\n"),
			 0);
	diff("main\n  f:13\n  f:14\n", "main\n  f:20\n  f:21\n  f:25\n");
	has("added    f  app.c:25  in main\n");
	has_not("missing");
}

/* Some stand still, one does not: another branch was taken. */
static void another_line_in_one_build_is_another_call(void **state)
{
	struct sketch s;
	struct cst_trace *t[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		sketch_begin(&s);
		sketch_calls(&s, i ? "main\n  g:9\n  f:13\n"
				   : "main\n  g:9\n  f:11\n");
		t[i] = sketch_end(&s);
	}
	assert_int_equal(diff_of(t[0], t[1], &everything, -1),
			 CST_DIFFERS_IN_FLOW);
	has("- 1.3             f  app.c:11\n+        1.3      f  app.c:13\n");
}

static void threads_are_paired_by_what_they_do(void **state)
{
	struct sketch a, b;

	(void)state;
	sketch_begin(&a);
	sketch_calls(&a, "main\n");
	sketch_thread(&a, "w");
	sketch_calls(&a, "work\n  f:3\n");
	sketch_thread(&a, "b");
	sketch_calls(&a, "boss\n  g:3\n");
	sketch_begin(&b);
	sketch_calls(&b, "main\n");
	sketch_thread(&b, "b");
	sketch_calls(&b, "boss\n  g:3\n  g:3\n");
	sketch_thread(&b, "w");
	sketch_calls(&b, "work\n  f:3\n");
	sketch_thread(&b, "x");
	sketch_calls(&b, "idle\n");
	assert_int_equal(
		diff_of(sketch_end(&a), sketch_end(&b), &everything, -1),
		CST_DIFFERS_IN_FLOW);
	has("In thread 3 (in B 2) the flows part after 2 equal calls: the end "
	    "in A, 2.3 g in B\n");
	has("Only in B:\n+ thread 4: 1 call, from idle\n");
	has_not("work");
}

static void a_choice_hides_differences(void **state)
{
	const struct cst_choice two = {.depth = 2}, no_x = {.exclude = "^x$"};
	const char *a = "main\n  f:3\n    g:9\n", *b = "main\n  f:3\n    x:8\n";

	(void)state;
	assert_int_equal(diff_of(sketch_trace(a), sketch_trace(b), &two, -1),
			 0);
	assert_int_equal(diff_of(sketch_trace("main\n  f:3\n"),
				 sketch_trace("main\n  x:2\n    f:3\n"), &no_x,
				 -1),
			 0);
}

static void times_are_told_when_asked_for(void **state)
{
	const char *a = "main\n  f:3\n  g:4\n    h:5\n";
	struct sketch s;
	struct cst_trace *b;

	(void)state;
	sketch_begin(&s);
	sketch_calls(&s, "main\n  f:3\n");
	s.now += 1000;
	sketch_calls(&s, "  g:4\n    h:5\n");
	b = sketch_end(&s);
	assert_int_equal(diff_of(sketch_trace(a), b, &everything, 50),
			 CST_DIFFERS_IN_TIME);
	has("TIME A      TIME B      CHANGE  FUNCTION\n");
	has("%  f\n");
	has_not("%  h\n");
	assert_int_equal(diff(a, a), 0);
	has_not("TIME");
}

static void diff_with(const char *a, const char *b, struct cst_diff diff)
{
	struct cst_trace *t[2] = {sketch_trace(a), sketch_trace(b)};
	struct cst_error err = {""};

	out.len = 0;
	out.text[0] = '\0';
	diff.by = CST_DIFF_BY_COUNTS;
	if (cst_trace_diff(t[0], t[1], &diff, &everything, output_write, &out,
			   &err) < 0)
		fail_msg("%s", err.text);
	cst_trace_free(t[0]);
	cst_trace_free(t[1]);
}

/* The last words of the table's rows: who is called.  As many as in names,
 * which has one letter for each. */
static void rows_are(const char *names)
{
	const char *row = strstr(out.text, "in CALLER\n");
	char found[16] = "";
	size_t n = 0;

	assert_non_null(row);
	for (row = strchr(row, '\n') + 1; *row; row = strchr(row, '\n') + 1)
		if (strstr(row, "  app.c:") && n < sizeof(found) - 1)
			found[n++] = strstr(row, "  app.c:")[-1];
	assert_string_equal(found, names);
}

/* From A to B: f 1 to 4 calls, g 2 to 0, h 0 to 1, k 4 to 6. */
static const char in_a[] = "main\n"
			   "  f:3\n"
			   "  g:4\n  g:4\n"
			   "  k:6\n  k:6\n  k:6\n  k:6\n";
static const char in_b[] = "main\n"
			   "  f:3\n  f:3\n  f:3\n  f:3\n"
			   "  h:5\n"
			   "  k:6\n  k:6\n  k:6\n  k:6\n  k:6\n  k:6\n";

static void rows_are_sorted_as_asked_for(void **state)
{
	(void)state;
	diff_with(in_a, in_b, (struct cst_diff){.percent = -1});
	rows_are("hgfk");
	diff_with(
		in_a, in_b,
		(struct cst_diff){.percent = -1, .sort = CST_DIFF_SORT_CHANGE});
	rows_are("fgkh");
	diff_with(in_a, in_b,
		  (struct cst_diff){.percent = -1,
				    .sort = CST_DIFF_SORT_CALLS,
				    .limit = 2});
	rows_are("fg");
	diff_with(in_a, in_b,
		  (struct cst_diff){.percent = -1,
				    .sort = CST_DIFF_SORT_PERCENT});
	rows_are("hfgk");
	diff_with(in_a, in_b,
		  (struct cst_diff){.percent = -1, .sort = CST_DIFF_SORT_NAME});
	rows_are("fghk");
}

/* In A each step takes a step of the clock: g calls no more often in B, but
 * what it calls does. */
static void total_sorts_by_the_functions_time(void **state)
{
	(void)state;
	diff_with(
		"main\n  f:3\n  g:4\n",
		"main\n  f:3\n  f:3\n  f:3\n"
		"  g:4\n  g:4\n    x:8\n    x:8\n    x:8\n    x:8\n",
		(struct cst_diff){.percent = -1, .sort = CST_DIFF_SORT_TOTAL});
	rows_are("gxf");
}

static void changes_are_shown_in_percent(void **state)
{
	(void)state;
	diff_with(in_a, in_b,
		  (struct cst_diff){.percent = -1, .shows_percent = 1});
	has("         0           1         new  added    h  app.c:5  in "
	    "main\n"
	    "         2           0      -100 %  missing  g  app.c:4  in "
	    "main\n"
	    "         1           4      +300 %  changed  f  app.c:3  in "
	    "main\n"
	    "         4           6       +50 %  changed  k  app.c:6  in "
	    "main\n");
	diff_with(in_a, in_b,
		  (struct cst_diff){.percent = -1,
				    .output = CST_OUTPUT_CSV,
				    .sort = CST_DIFF_SORT_PERCENT});
	has("total_b_ns,change_percent\n");
	has(",h,h,main,src/app.c,5,0,1,,,\n");
	has(",k,k,main,src/app.c,6,4,6,,,50.000\n");
	has(",g,g,main,src/app.c,4,2,0,,,-100.000\n");
}

/* More children than are held. */
static void long_loops_part_and_meet_again(void **state)
{
	struct sketch s;
	struct cst_trace *t[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		sketch_begin(&s);
		sketch_call(&s, "main");
		for (int i = 0; i < 3000; i++) {
			if (k && i == 1000)
				sketch_call(&s, "  x:7");
			sketch_call(&s, "  f:3");
		}
		t[k] = sketch_end(&s);
	}
	assert_int_equal(diff_of(t[0], t[1], &everything, -1),
			 CST_DIFFERS_IN_FLOW);
	has("after 1001 equal calls: 1.1002 f in A, 1.1002 x in B\n");
	has("  ...\n  ... only 500 calls of each are compared here\n");
	has("added    x  app.c:7  in main\n");
	has_not("\n- ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_flows_are_the_same),
		cmocka_unit_test(a_call_added_in_the_middle_is_one_difference),
		cmocka_unit_test(a_call_that_is_missing_below_another_is_found),
		cmocka_unit_test(what_comes_instead_is_told),
		cmocka_unit_test(what_goes_on_otherwise_is_marked),
		cmocka_unit_test(order_alone_is_a_difference),
		cmocka_unit_test(how_a_call_ended_counts_last),
		cmocka_unit_test(lines_that_moved_are_the_same),
		cmocka_unit_test(another_line_in_one_build_is_another_call),
		cmocka_unit_test(threads_are_paired_by_what_they_do),
		cmocka_unit_test(a_choice_hides_differences),
		cmocka_unit_test(times_are_told_when_asked_for),
		cmocka_unit_test(rows_are_sorted_as_asked_for),
		cmocka_unit_test(total_sorts_by_the_functions_time),
		cmocka_unit_test(changes_are_shown_in_percent),
		cmocka_unit_test(long_loops_part_and_meet_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
