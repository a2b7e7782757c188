/* SPDX-License-Identifier: MIT
 *
 * What the rows of a report stand for.
 */
#include "trace_builder.h"

static const struct cst_choice everything = {.std = 1};

/* Calls, total and self of each row in ns, and what it is named. */
static const char *rows(struct cst_trace *t, struct cst_report report)
{
	static char found[2048];
	struct output out = {0};
	struct cst_error err = {""};
	char *p = found, *line;

	if (cst_trace_report(t, &report, &everything, output_write, &out,
			     &err) < 0)
		fail_msg("%s", err.text);
	*p = '\0';
	if (!out.len) /* no rows, and no heading */
		return found;
	for (line = strchr(out.text, '\n') + 1; *line;
	     line = strchr(line, '\n') + 1) {
		unsigned n, total, self;
		int name = 0;

		assert_int_equal(sscanf(line,
					"%u %u ns %u ns %*u ns %*u ns %*u ns "
					"%*f%% %n",
					&n, &total, &self, &name),
				 3);
		p += sprintf(p, "%u %u %u %.*s\n", n, total, self,
			     (int)strcspn(line + name, "\n"), line + name);
	}
	return found;
}

/* main calls f, which calls itself and g; then main calls g. */
static struct cst_trace *f_and_g(void)
{
	struct draft d;
	uint64_t main, f, again, g;
	uint32_t sites[4];

	draft_begin(&d);
	sites[0] = draft_site(&d, "main", 0);
	sites[1] = draft_site(&d, "f", 10);
	sites[2] = draft_site(&d, "f", 20);
	sites[3] = draft_site(&d, "g", 30);
	main = draft_enter(&d, sites[0], 0);
	f = draft_enter(&d, sites[1], 100);
	again = draft_enter(&d, sites[2], 110);
	g = draft_enter(&d, sites[3], 120);
	draft_exit(&d, g, 125);
	draft_exit(&d, again, 160);
	draft_exit(&d, f, 200);
	g = draft_enter(&d, draft_site(&d, "g", 40), 300);
	draft_exit(&d, g, 400);
	draft_exit(&d, main, 900);
	return draft_trace(&d, 900);
}

static void callers_have_the_calls_they_made(void **state)
{
	struct cst_trace *t = f_and_g();

	(void)state;
	assert_string_equal(rows(t, (struct cst_report){.callers = "^g$"}),
			    "1 100 100 main\n1 5 5 f\n");
	/* f's calls of f lie within those that main made. */
	assert_string_equal(rows(t, (struct cst_report){.callers = "^f$"}),
			    "1 100 50 main\n1 50 45 f\n");
	assert_string_equal(rows(t, (struct cst_report){.callers = "main"}),
			    "1 900 700 (no caller)\n");
	assert_string_equal(
		rows(t, (struct cst_report){.callers = "main", .regex = "."}),
		"");
	cst_trace_free(t);
}

static void callees_have_the_calls_made_of_them(void **state)
{
	struct cst_trace *t = f_and_g();

	(void)state;
	assert_string_equal(rows(t, (struct cst_report){.callees = "main"}),
			    "1 100 50 f\n1 100 100 g\n");
	assert_string_equal(rows(t, (struct cst_report){.callees = "f"}),
			    "1 50 45 f\n1 5 5 g\n");
	assert_string_equal(rows(t, (struct cst_report){.callees = "g"}), "");
	cst_trace_free(t);
}

static void each_place_of_a_call_can_have_a_row(void **state)
{
	struct cst_trace *t = f_and_g();

	(void)state;
	assert_string_equal(rows(t, (struct cst_report){.by = CST_BY_CALLSITE}),
			    "1 900 700 main  app.c\n"
			    "1 100 50 f  app.c:10\n"
			    "1 100 100 g  app.c:40\n"
			    "1 50 45 f  app.c:20\n"
			    "1 5 5 g  app.c:30\n");
	cst_trace_free(t);
}

/* Another function, called once for 10 ticks. */
static void call_named(struct draft *d, uint64_t at, const char *name,
		       const char *module, const char *file)
{
	uint32_t f = names_add_function(d->names, 0x2000 + at);
	uint32_t site = names_add_site(d->names, f);

	names_set_function(d->names, f, name, name, module, file);
	names_set_site(d->names, site, "x.c", 1);
	draft_exit(d, draft_enter(d, site, at), at + 10);
}

static void equal_names_are_told_apart(void **state)
{
	struct draft d;
	struct cst_trace *t;

	(void)state;
	draft_begin(&d);
	call_named(&d, 0, "init", "/lib/liba.so", "src/a.c");
	call_named(&d, 100, "init", "/lib/libb.so", "src/a.c");
	call_named(&d, 200, "help", "/bin/app", "src/one.c");
	call_named(&d, 300, "help", "/bin/app", "src/two.c");
	call_named(&d, 400, "only", "/bin/app", "src/two.c");
	/* One library, loaded once more elsewhere. */
	call_named(&d, 500, "again", "/lib/liba.so", "src/a.c");
	call_named(&d, 600, "again", "/lib/liba.so", "src/a.c");
	t = draft_trace(&d, 700);
	assert_string_equal(rows(t, (struct cst_report){0}),
			    "2 20 20 again\n"
			    "1 10 10 init [liba.so]\n"
			    "1 10 10 init [libb.so]\n"
			    "1 10 10 help [one.c]\n"
			    "1 10 10 help [two.c]\n"
			    "1 10 10 only\n");
	cst_trace_free(t);
}

/* The whole text. */
static const char *text_of(struct cst_trace *t, struct cst_report report)
{
	static struct output out;
	struct cst_error err;

	out = (struct output){0};
	if (cst_trace_report(t, &report, &everything, output_write, &out,
			     &err) < 0)
		fail_msg("%s", err.text);
	return out.text;
}

static void fields_and_keys_are_chosen(void **state)
{
	struct cst_trace *t = f_and_g();

	(void)state;
	assert_string_equal(
		text_of(t, (struct cst_report){.fields = "self,calls,share",
					       .sort = "calls,self"}),
		"#     SELF       CALLS  SHARE  FUNCTION\n"
		"    105 ns           2  11.7%  g\n"
		"     95 ns           2  10.6%  f\n"
		"    700 ns           1  77.8%  main\n");
	/* uftrace's words, and a beginning; names from A on. */
	assert_string_equal(
		text_of(t, (struct cst_report){.fields = "call,avg,tot",
					       .sort = "func"}),
		"#    CALLS        MEAN       TOTAL  FUNCTION\n"
		"         2       50 ns      100 ns  f\n"
		"         2       52 ns      105 ns  g\n"
		"         1      900 ns      900 ns  main\n");
	assert_non_null(strstr(
		text_of(t, (struct cst_report){.fields = "min",
					       .output = CST_OUTPUT_CSV}),
		"min_ns,function,name,symbol,module,file,line,stopped_calls\n"
		"900,main,"
		"main,"));
	cst_trace_free(t);
}

static void a_thread_can_have_a_row(void **state)
{
	struct cst_trace *t = f_and_g();

	(void)state;
	assert_non_null(strstr(
		text_of(t, (struct cst_report){.by = CST_BY_THREAD,
					       .fields = "calls,total,self"}),
		"#    CALLS       TOTAL        SELF  THREAD\n"
		"         5      900 ns      900 ns  t1  "));
	assert_non_null(strstr(
		text_of(t, (struct cst_report){.by = CST_BY_THREAD,
					       .output = CST_OUTPUT_CSV}),
		"share_percent,process,thread,tid,name,stopped_calls\n"));
	cst_trace_free(t);
}

/* The size of g is not known; h are two functions, which are one row. */
static void sizes_of_functions_are_shown_and_sorted_by(void **state)
{
	const struct cst_report text = {.fields = "size,calls",
					.sort = "size,function"};
	struct cst_report csv = text;
	struct cst_trace *t;
	struct draft d;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 10);
	names_size_function(d.names, 0, 40);
	draft_exit(&d, draft_enter(&d, 0, 0), 10);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "g", 20), 20), 30);
	call_named(&d, 40, "h", "/bin/app", "src/a.c");
	names_size_function(d.names, 2, 1200);
	call_named(&d, 60, "h", "/bin/app", "src/a.c");
	names_size_function(d.names, 3, 1300);
	t = draft_trace(&d, 100);
	assert_string_equal(text_of(t, text),
			    "#     SIZE       CALLS  FUNCTION\n"
			    "      1300           2  h\n"
			    "        40           1  f\n"
			    "         -           1  g\n");
	csv.output = CST_OUTPUT_CSV;
	assert_string_equal(text_of(t, csv),
			    "size_bytes,calls,function,name,symbol,module,file,"
			    "line,stopped_calls\n"
			    "1300,2,h,h,h,/bin/app,,,0\n"
			    "40,1,f,f,f,app,,,0\n"
			    ",1,g,g,g,app,,,0\n");
	assert_null(strstr(text_of(t, (struct cst_report){0}), "SIZE"));
	cst_trace_free(t);
}

static void unknown_fields_are_named(void **state)
{
	const struct cst_report bad[] = {
		{.fields = "calls,,self"},
		{.fields = "function"},
		{.sort = "m"}, /* mean, min or max */
		{.by = CST_BY_THREAD, .regex = "main"},
		{.by = CST_BY_THREAD, .sort = "size"},
		{.by = CST_BY_THREAD, .fields = "calls,size"},
	};
	struct cst_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(cst_report_check(&bad[i], &err),
				 CST_BAD_INPUT);
	assert_int_equal(
		cst_report_check(&(struct cst_report){.sort = "bytes"}, &err),
		CST_BAD_INPUT);
	assert_string_equal(err.text,
			    "no field 'bytes': there are calls, total, self, "
			    "mean, min, max, share, size and function");
}

/* main calls f twice; gdb stops the program twice in the first call. */
/* main and both f are open at 126, g is over. */
static void a_range_has_the_calls_around_its_begin(void **state)
{
	struct cst_trace *t = f_and_g();
	const struct cst_report report = {.fields = "calls,total",
					  .output = CST_OUTPUT_CSV};
	struct cst_choice choice = everything;
	struct output out = {0};
	struct cst_error err;

	(void)state;
	choice.range_from_ns = 126;
	choice.range_until_ns = 299;
	assert_int_equal(
		cst_trace_report(t, &report, &choice, output_write, &out, &err),
		2);
	assert_non_null(strstr(out.text, "\n1,900,main,"));
	assert_non_null(strstr(out.text, "\n2,100,f,"));
	cst_trace_free(t);
}

static void times_with_a_stop_in_them_are_marked(void **state)
{
	struct cst_trace *t;
	struct draft d;
	uint64_t main, f;
	uint32_t site;

	(void)state;
	draft_begin(&d);
	site = draft_site(&d, "f", 10);
	main = draft_enter(&d, draft_site(&d, "main", 0), 0);
	f = draft_enter(&d, site, 100);
	writer_pause(d.w, DRAFT_START + 110, 1000);
	writer_pause(d.w, DRAFT_START + 120, 1000);
	draft_exit(&d, f, 150);
	draft_exit(&d, draft_enter(&d, site, 200), 210);
	draft_exit(&d, main, 300);
	t = draft_trace(&d, 300);
	assert_string_equal(
		text_of(t,
			(struct cst_report){
				.fields = "total,self,share,min,max"}),
		"#    TOTAL        SELF  SHARE         MIN         MAX"
		"  FUNCTION\n"
		"    300 ns*     240 ns  80.0%      300 ns*     300 ns* main\n"
		"     60 ns*      60 ns* 20.0%       10 ns       50 ns* f\n"
		"# *: gdb stopped the program in such a call; the time "
		"includes what that took\n");
	assert_string_equal(
		text_of(t, (struct cst_report){.fields = "calls,min",
					       .regex = "f",
					       .output = CST_OUTPUT_CSV}),
		"calls,min_ns,function,name,symbol,module,file,line,"
		"stopped_calls\n2,10,f,f,f,app,,,1\n");
	assert_null(strchr(
		text_of(t, (struct cst_report){.fields = "min", .regex = "f"}),
		'*'));
	cst_trace_free(t);
}

static void what_cannot_be_asked_is_refused(void **state)
{
	struct cst_trace *t = f_and_g();
	const struct cst_report both = {.callers = "f", .callees = "g"};
	const struct cst_report bad = {.callers = "("};
	struct output out = {0};
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_trace_report(t, &both, &everything, output_write,
					  &out, &err),
			 CST_BAD_INPUT);
	assert_int_equal(cst_trace_report(t, &bad, &everything, output_write,
					  &out, &err),
			 CST_BAD_INPUT);
	assert_non_null(strstr(err.text, "bad regex '('"));
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_have_the_calls_they_made),
		cmocka_unit_test(callees_have_the_calls_made_of_them),
		cmocka_unit_test(each_place_of_a_call_can_have_a_row),
		cmocka_unit_test(equal_names_are_told_apart),
		cmocka_unit_test(fields_and_keys_are_chosen),
		cmocka_unit_test(a_thread_can_have_a_row),
		cmocka_unit_test(sizes_of_functions_are_shown_and_sorted_by),
		cmocka_unit_test(unknown_fields_are_named),
		cmocka_unit_test(a_range_has_the_calls_around_its_begin),
		cmocka_unit_test(times_with_a_stop_in_them_are_marked),
		cmocka_unit_test(what_cannot_be_asked_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
