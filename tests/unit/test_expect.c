/* SPDX-License-Identifier: MIT
 *
 * Golden trees and traces, both drawn as text.
 */
#include "golden/golden.h"
#include "trace_from_text.h"

#include <unistd.h>

static const struct cst_choice everything = {.std = 1};

static const struct cst_choice nothing_hidden = {0};

static struct output out;

/* The tree in a file, for as long as the test runs. */
static const char *golden_file(const char *text)
{
	static char path[64];
	int fd;

	strcpy(path, "/tmp/cstrace-golden-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static int64_t expect_of(const char *golden, struct cst_trace *t)
{
	struct cst_error err = {""};
	const char *path = golden_file(golden);
	int64_t result;

	out.len = 0;
	out.text[0] = '\0';
	result = cst_trace_expect(t, path, CST_OUTPUT_TEXT, &everything,
				  output_write, &out, &err);
	unlink(path);
	if (result < 0)
		fail_msg("%s", err.text);
	assert_true(!result == !out.len);
	return result;
}

static int fits(const char *golden, const char *calls)
{
	struct cst_trace *t = sketch_trace(calls);
	int64_t result = expect_of(golden, t);

	cst_trace_free(t);
	return result == 0;
}

static void has(const char *part)
{
	if (!strstr(out.text, part))
		fail_msg("no '%s' in:\n%s", part, out.text);
}

static void without_dots_a_tree_is_strict(void **state)
{
	(void)state;
	assert_true(fits("main\n  f\n  g\n", "main\n  f\n  g\n"));
	assert_false(fits("main\n  f\n", "main\n  f\n  g\n"));
	has(":1: expected no more calls below main, but this call is made:\n");
	has("> 1.3         g  app.c\n");
	assert_false(fits("main\n  f\n  g\n", "main\n  f\n"));
	has(":3: expected g, but this call makes no more:\n> 1.1       main");
	assert_false(fits("main\n  f\n  g\n", "main\n  g\n  f\n"));
	has(":2: expected f, but this call is made:\n");
	assert_false(fits("main\n", "main\n  f\n"));
	assert_false(fits("main\n", "main\nmain\n"));
}

static void dots_are_any_calls(void **state)
{
	(void)state;
	assert_true(fits("main\n  ...\n", "main\n"));
	assert_true(fits("main\n  ...\n", "main\n  f\n    g\n  f\n"));
	assert_true(fits("main\n  ...\n  f\n  ...\n",
			 "main\n  g\n  f\n  f\n  h\n"));
	assert_false(fits("main\n  ...\n  x\n  ...\n", "main\n  f\n    x\n"));
	assert_true(fits("...\n", "main\n  f\n"));
}

/* f may be the line's or one of those that dots stand for. */
static void all_readings_are_followed(void **state)
{
	const char *golden = "main\n  ...\n  f\n    g\n    h\n  ...\n";

	(void)state;
	assert_true(fits(golden, "main\n  f\n    g\n  f\n    g\n    h\n"));
	assert_true(fits(golden, "main\n  f\n    g\n    h\n  f\n"));
	assert_false(fits(golden, "main\n  f\n    g\n  f\n    h\n"));
	has(":3: expected f, but this call makes no more:\n");
	has(":5: note: expected h, but 1.2 f calls nothing more: so it is not "
	    "the one of line 3\n");
	assert_true(fits("main\n  f x1..2\n  * x2\n", "main\n  f\n  f\n  f\n"));
	assert_true(fits("main\n  f x1..2\n  * x2\n", "main\n  f\n  g\n  f\n"));
}

static void counts_say_how_often(void **state)
{
	static const struct {
		const char *count;
		int least, most;
	} cases[] = {{"x2", 2, 2},   {"x1..3", 1, 3}, {"x*", 0, 99},
		     {"x+", 1, 99},  {"x2..", 2, 99}, {"x0", 0, 0},
		     {"x0..1", 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int n = 0; n < 5; n++) {
			char golden[64], calls[64] = "main\n";

			snprintf(golden, sizeof(golden), "main\n  f  %s\n",
				 cases[i].count);
			for (int k = 0; k < n; k++)
				strcat(calls, "  f\n");
			assert_int_equal(fits(golden, calls),
					 n >= cases[i].least &&
						 n <= cases[i].most);
		}
	}
}

static void names_are_globs_or_regexes(void **state)
{
	(void)state;
	assert_true(fits("m*n\n", "main\n"));
	assert_false(fits("m*x\n", "main\n"));
	assert_true(fits("/^ma/\n", "main\n"));
	assert_false(fits("/^a/\n", "main\n"));
	assert_true(fits("f(char*)\n", "f(char*)\n"));
	assert_true(fits("f() const x2\n", "f() const\nf() const\n"));
}

static void sites_and_ends_are_asked_for(void **state)
{
	(void)state;
	assert_true(fits("main\n  f  app.c:7\n", "main\n  f:7\n"));
	assert_true(fits("main\n  f  app.c\n", "main\n  f:7\n"));
	assert_false(fits("main\n  f  app.c:8\n", "main\n  f:7\n"));
	assert_true(fits("main\n  f  (unwound)\n", "main\n  f!\n"));
	assert_false(fits("main\n  f  (unwound)\n", "main\n  f\n"));
	assert_true(fits("main\n  f\n", "main\n  f!\n"));
	assert_true(fits("main  (open)\n", "main?\n"));
}

static void groups_have_no_order(void **state)
{
	const char *golden = "main\n  a\n  unordered:\n    f x2\n      i\n"
			     "    g\n    h x*\n  z\n";

	(void)state;
	assert_true(fits(golden, "main\n  a\n  g\n  f\n    i\n  f\n    i\n"
				 "  z\n"));
	assert_true(fits(golden, "main\n  a\n  f\n    i\n  h\n  g\n  h\n  f\n"
				 "    i\n  z\n"));
	assert_false(fits(golden, "main\n  a\n  f\n    i\n  g\n  z\n"));
	has(":4: expected f x2");
	assert_false(fits(golden, "main\n  a\n  f\n    i\n  f\n  g\n  z\n"));
	has(":5: expected i, but this call makes no more:\n");
	assert_false(fits(golden, "main\n  a\n  g\n  g\n"));
}

static void never_looks_below_dots(void **state)
{
	const char *golden = "main\n  ...\n  !x*\n";

	(void)state;
	assert_true(fits(golden, "main\n  f\n    g\n"));
	assert_false(fits(golden, "main\n  f\n    g\n      xy\n"));
	has(":3: never expected x*, but this call is made:\n");
	has("> 1.4             xy  app.c\n");
	/* Only below the call that says so. */
	assert_true(fits("main\n  f\n    ...\n    !x\n  x\n",
			 "main\n  f\n    g\n  x\n"));
	/* Another reading is left. */
	assert_true(fits("main\n  ...\n  f\n    ...\n    !x\n  ...\n",
			 "main\n  f\n    x\n  f\n    g\n"));
	assert_false(fits("main\n  ...\n  f\n    ...\n    !x\n  ...\n",
			  "main\n  f\n    g\n      x\n"));
	has(":5: note: never expected x, but 1.2 f leads to 1.4 x: so it is "
	    "not the one of line 3\n");
}

static struct cst_trace *two_workers(void)
{
	struct sketch s;

	sketch_begin(&s);
	sketch_calls(&s, "main\n  f\n");
	sketch_thread(&s, "worker");
	sketch_calls(&s, "work\n");
	sketch_thread(&s, "worker");
	sketch_calls(&s, "work\n  g\n");
	return sketch_end(&s);
}

static void threads_have_sections(void **state)
{
	static const struct {
		const char *golden;
		const char *mismatch; /* NULL: none */
	} cases[] = {
		{"thread 1:\nmain\n  f\nthread worker:\nwork\n  g x0..1\n",
		 NULL},
		{"thread 1:\n  main\n    ...\nthread *:\n  ...\n", NULL},
		{"thread 3:\nwork\n  g\nthread *:\n  ...\n", NULL},
		{"thread 2:\nwork\n  g\nthread *:\n  ...\n",
		 ":3: expected g, but this call makes no more:\n"},
		{"main\n  f\n", "no line is about thread 2 [worker]"},
		{"thread 1:\nmain\n  f\nthread ?:\nwork\n  g\n"
		 "thread ?:\nwork\n",
		 NULL},
		{"thread 1:\nmain\n  f\nthread ?:\nwork\n",
		 "no line is about thread 3 [worker]"},
		{"thread 1:\nmain\n  f\nthread ?:\nwork\nthread ?:\nwork\n",
		 ":7: expected no more calls below work, but this call"},
		{"thread 1:\nmain\n  f\nthread 3:\nwork\n  g\n"
		 "thread ?:\nwork\nthread ?:\nwork\n",
		 ":9: no thread in the trace is this one"},
		{"thread 1:\nmain\n  f\nthread 9:\nwork\nthread *:\n...\n",
		 ":4: no thread in the trace is this one"},
	};
	struct cst_trace *t = two_workers();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(expect_of(cases[i].golden, t),
				 cases[i].mismatch != NULL);
		if (cases[i].mismatch)
			has(cases[i].mismatch);
	}
	cst_trace_free(t);
}

static void comments_and_indentation_are_free(void **state)
{
	(void)state;
	assert_true(fits("# a tree\n\n    main  # the first\n\tf\n"
			 "        # nothing\n\tg  x1  app.c  # all\r\n",
			 "main\n  f\n  g\n"));
}

static void bad_lines_are_named(void **state)
{
	static const char *const cases[][2] = {
		{"main\n    f\n  g\n", "g:3: its indentation is that of no"},
		{"  main\nf\n", "g:2: its indentation is that of no"},
		{"main\n\n  /(/\n", "g:3: bad regex '('"},
		{"/++++++++++++++++++++++++++++++++++++++++++++/\n",
		 "g:1: bad regex '+++"},
		{"main  x3..2\n", "g:1: 'x3..2' is no count"},
		{"main x..\n", "g:1: 'x..' is no count"},
		{"main  (closed)\n", "g:1: what is '(closed)'?"},
		{"...\n  f\n", "g:2: nothing can be below '...'"},
		{"unordered:\n  unordered:\n", "g:2: a group in a group"},
		{"unordered:\n  !x\n", "g:2: '!' tells of all below a call"},
		{"main\n  !\n", "g:2: after '!' comes a name"},
		{"thread :\n", "g:1: which thread?"},
		{"   0.000001    1.000 us  main\n", "g:1: this tree has times"},
		{"# nothing\n", "g: there is no call in it"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct golden g;
		struct cst_error err = {""};
		char text[128];

		strcpy(text, cases[i][0]);
		assert_int_equal(golden_parse(&g, "g", text, &err),
				 CST_BAD_INPUT);
		if (strncmp(err.text, cases[i][1], strlen(cases[i][1])))
			fail_msg("%s: %s", cases[i][0], err.text);
		golden_release(&g);
	}
}

static void make(struct cst_trace *t)
{
	struct cst_error err = {""};

	out.len = 0;
	if (cst_trace_golden(t, NULL, 0, &nothing_hidden, output_write, &out,
			     &err) < 0)
		fail_msg("%s", err.text);
}

static void make_folds_equal_neighbours(void **state)
{
	struct cst_trace *t = sketch_trace(
		"main\n  f:1\n    g:2\n    g:2\n  f:3\n    g:2\n    g:2\n"
		"  f:3\n    g:2\n  f:3!\n");

	(void)state;
	make(t);
	cst_trace_free(t);
	assert_string_equal(out.text, "main\n  f  x2\n    g  x2\n  f\n    g\n"
				      "  f  (unwound)\n");
}

static void what_was_made_fits(void **state)
{
	struct cst_trace *t = two_workers();
	char golden[1024];

	(void)state;
	make(t);
	assert_string_equal(out.text, "thread 1:\nmain\n  f\n\n"
				      "thread ?:\nwork\n\n"
				      "thread ?:\nwork\n  g\n");
	strcpy(golden, out.text);
	assert_int_equal(expect_of(golden, t), 0);
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_dots_a_tree_is_strict),
		cmocka_unit_test(dots_are_any_calls),
		cmocka_unit_test(all_readings_are_followed),
		cmocka_unit_test(counts_say_how_often),
		cmocka_unit_test(names_are_globs_or_regexes),
		cmocka_unit_test(sites_and_ends_are_asked_for),
		cmocka_unit_test(groups_have_no_order),
		cmocka_unit_test(never_looks_below_dots),
		cmocka_unit_test(threads_have_sections),
		cmocka_unit_test(comments_and_indentation_are_free),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(make_folds_equal_neighbours),
		cmocka_unit_test(what_was_made_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
