/* SPDX-License-Identifier: MIT
 *
 * One small trace of two threads in each output: text, JSON lines, report,
 * saved and loaded again.
 */
#include "trace_builder.h"
#include "trace/loader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Thread 1: main s1 (open before) > work > twice > leaf, leaf, leaf; then
 * work again, left by longjmp, and an open one.  Thread 2: leaf. */
static struct cst_trace *two_threads(void)
{
	struct draft d;
	struct lane *second;
	uint32_t s_main, s_work, s_leaf;
	uint64_t w, l;

	draft_begin(&d);
	s_main = draft_site(&d, "main", 0);
	s_work = draft_site(&d, "work(\"x\")", 5);
	s_leaf = draft_site(&d, "leaf\xff", 7);
	writer_thread(d.w, 1, 100, 2, 107, "worker");
	second = writer_lane(d.w, 1, 1, 0);
	draft_put(d.lane, (struct draft_call){
				  .site = s_main, .number = 1, .is_seed = 1});
	w = draft_enter(&d, s_work, 1000);
	for (uint64_t i = 0; i < 3; i++) {
		l = draft_enter(&d, s_leaf, 2000 + i * 1000);
		draft_exit(&d, l, 2500 + i * 1000);
	}
	draft_exit(&d, w, 6000);
	l = draft_put(second, (struct draft_call){.start = DRAFT_START + 2100,
						  .site = s_leaf,
						  .number = 1,
						  .thread = 1});
	lane_exit(second, l, DRAFT_START + 2200, CALL_RETURN);
	writer_flush(d.w, NULL);
	w = draft_enter(&d, s_work, 7000);
	lane_exit(d.lane, w, DRAFT_START + 8000, CALL_UNWOUND);
	draft_enter(&d, s_work, 8500);
	return draft_trace(&d, 10000);
}

static const struct cst_choice everything = {0};

static void text_shows_both_threads_in_order(void **state)
{
	struct cst_trace *t = two_threads();

	(void)state;
	assert_string_equal(draft_rows(t, &draft_look, &everything),
			    "     before        open  t1  main  app.c\n"
			    "   0.000001    5.000 us  t1    work  "
			    "app.c:5\n"
			    "   0.000002      500 ns  t1      leaf\\xff  "
			    "app.c:7\n"
			    "# t2: worker (107)\n"
			    "   0.000002      100 ns  t2  leaf\\xff  app.c:7\n"
			    "   0.000003      500 ns  t1      leaf\\xff  "
			    "app.c:7\n"
			    "   0.000004      500 ns  t1      leaf\\xff  "
			    "app.c:7\n"
			    "   0.000007    1.000 us  t1    work  app.c:5"
			    "  (unwound)\n"
			    "   0.000008        open  t1    work  "
			    "app.c:5\n");
	cst_trace_free(t);
}

static void fold_joins_equal_leaves(void **state)
{
	const struct cst_look look = {.fold = 1, .duration = 1, .thread = 1};
	const struct cst_choice first = {.thread = 1};
	struct cst_trace *t = two_threads();

	(void)state;
	assert_string_equal(draft_rows(t, &look, &first),
			    "      open  t1  main\n"
			    "  5.000 us  t1    work\n"
			    "  1.500 us  t1      leaf\\xff  x3\n"
			    "  1.000 us  t1    work  (unwound)\n"
			    "      open  t1    work\n");
	cst_trace_free(t);
}

static void last_shows_the_callers_first(void **state)
{
	const struct cst_look bare = {0};
	const struct cst_choice last = {.last = 3, .thread = 1};
	const struct cst_choice leaves = {.last = 4, .thread = 1};
	struct cst_trace *t = two_threads();

	(void)state;
	assert_string_equal(draft_rows(t, &bare, &last), "main\n"
							 "  work\n"
							 "    leaf\\xff\n"
							 "  work  (unwound)\n"
							 "  work\n");
	assert_int_equal(strlen(draft_rows(t, &bare, &leaves)),
			 strlen(draft_rows(t, &bare, &last)) +
				 strlen("    leaf\\xff\n"));
	cst_trace_free(t);
}

static void around_shows_callers_and_neighbours(void **state)
{
	struct draft d;
	struct cst_trace *t;
	const struct cst_look bare = {0};
	const struct cst_choice around = {.around = "1.502"};
	const char *rows;
	int n = 0;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "main", 0);
	draft_site(&d, "f", 1);
	draft_enter(&d, 0, 0);
	for (uint64_t i = 1; i <= 1000; i++) {
		/* Only the target is told apart. */
		if (i == 501)
			draft_site(&d, "target", 2);
		draft_exit(&d, draft_enter(&d, i == 501 ? 2 : 1, i * 10),
			   i * 10 + 5);
	}
	t = draft_trace(&d, 20000);
	rows = draft_rows(t, &bare, &around);
	assert_memory_equal(rows, "main\n  f\n", 9);
	for (const char *p = rows; *p; p++)
		n += *p == '\n';
	assert_int_equal(n, 1 + 10 + 1 + 10);
	assert_non_null(strstr(rows, "  target\n"));
	cst_trace_free(t);
}

static void unknown_calls_are_told(void **state)
{
	static const struct {
		struct cst_choice choice;
		const char *error;
	} cases[] = {
		{{.around = "1.99"}, "no call 1.99: thread 1 made 6 calls"},
		{{.around = "9.1"}, "no thread 9 in this trace"},
		{{.around = "1.2", .exclude = "leaf"},
		 "call 1.2 is hidden by the filters"},
		{{.around = "1-2"},
		 "'1-2' is not a call's ID: write it like 1.42 (thread 1, "
		 "call 42)"},
		{{.thread = 7}, "no thread 7: the trace has 2"},
	};
	struct cst_trace *t = two_threads();
	struct cst_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(cst_trace_show(t, &draft_look,
						&cases[i].choice, output_write,
						NULL, &err),
				 CST_BAD_INPUT);
		assert_string_equal(err.text, cases[i].error);
	}
	cst_trace_free(t);
}

static const struct cst_report by_calls = {.sort = "calls"};

static void the_report_counts_and_sums(void **state)
{
	const struct cst_report some = {
		.sort = "self", .limit = 1, .regex = "work|leaf"};
	static struct output out;
	struct cst_trace *t = two_threads();
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_trace_report(t, &by_calls, &everything,
					  output_write, &out, &err),
			 3);
	assert_string_equal(
		out.text,
		"#    CALLS       TOTAL        SELF        MEAN         MIN"
		"         MAX  SHARE  FUNCTION\n"
		"         4    1.600 us    1.600 us      400 ns      100 ns"
		"      500 ns  15.8%  leaf\\xff\n"
		"         3    7.500 us    6.000 us    2.500 us    1.000 us"
		"    5.000 us  59.4%  work\n"
		"         1   10.000 us    2.500 us   10.000 us   10.000 us"
		"   10.000 us  24.8%  main\n");
	out.len = 0;
	assert_int_equal(cst_trace_report(t, &some, &everything, output_write,
					  &out, &err),
			 1);
	assert_non_null(strstr(out.text, "work"));
	assert_null(strstr(out.text, "leaf"));
	cst_trace_free(t);
}

/* Puts each row's calls, total and self in ns, and function. */
static void report_rows(char *text, char *out)
{
	char *line = strchr(text, '\n') + 1, unit[2][3], name[64];
	double times[2];
	unsigned n;

	*out = '\0';
	for (; *line; line = strchr(line, '\n') + 1) {
		assert_int_equal(sscanf(line,
					"%u %lf %2s %lf %2s %*f %*s %*f %*s "
					"%*f %*s %*f%% %63s",
					&n, &times[0], unit[0], &times[1],
					unit[1], name),
				 6);
		for (int i = 0; i < 2; i++)
			times[i] *= *unit[i] == 'u' ? 1000 : 1;
		out += sprintf(out, "%u %.0f %.0f %s\n", n, times[0], times[1],
			       name);
	}
}

static void the_report_follows_the_choice(void **state)
{
	static const struct {
		struct cst_choice choice;
		const char *rows;
	} cases[] = {
		{{.thread = 2}, "1 100 100 leaf\\xff\n"},
		/* What is hidden is its caller's own time. */
		{{.min_ns = 600}, "3 7500 7500 work\n1 10000 2500 main\n"},
		{{.exclude = "work"},
		 "4 1600 1600 leaf\\xff\n1 10000 8500 main\n"},
		{{.depth = 1}, "1 10000 10000 main\n1 100 100 leaf\\xff\n"},
		{{.filter = "work", .depth = 1}, "3 7500 7500 work\n"},
	};
	struct cst_trace *t = two_threads();
	struct cst_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct output out = {0};
		char rows[512];

		assert_true(cst_trace_report(t, &by_calls, &cases[i].choice,
					     output_write, &out, &err) > 0);
		report_rows(out.text, rows);
		assert_string_equal(rows, cases[i].rows);
	}
	cst_trace_free(t);
}

static void recursion_counts_once_in_the_total(void **state)
{
	const struct cst_report report = {0};
	static struct output out;
	struct draft d;
	struct cst_trace *t;
	struct cst_error err;
	uint64_t a, b, c;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	a = draft_enter(&d, 0, 0);
	b = draft_enter(&d, 0, 100);
	c = draft_enter(&d, 0, 200);
	draft_exit(&d, c, 300);
	draft_exit(&d, b, 500);
	draft_exit(&d, a, 900);
	t = draft_trace(&d, 900);
	cst_trace_report(t, &report, &everything, output_write, &out, &err);
	assert_non_null(strstr(out.text,
			       "         3      900 ns      900 ns"
			       "      300 ns      100 ns      900 ns 100.0%"
			       "  f\n"));
	cst_trace_free(t);
}

/* A folder for one test, with its only file's text. */
struct folder {
	char path[64], file[128];
};

static void folder_begin(struct folder *f, const char *name)
{
	strcpy(f->path, "/var/tmp/cstrace-test-XXXXXX");
	assert_non_null(mkdtemp(f->path));
	snprintf(f->file, sizeof(f->file), "%s/%s", f->path, name);
}

static int folder_count(const struct folder *f)
{
	DIR *dir = opendir(f->path);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(dir)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	return n;
}

static void folder_end(struct folder *f)
{
	unlink(f->file);
	assert_int_equal(rmdir(f->path), 0);
}

static const char *file_text(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	close(fd);
	text[n] = '\0';
	return text;
}

static void json_lines_have_the_contracts_keys(void **state)
{
	static const char second[] =
		"{\"id\":\"1.1\",\"parent\":\"1.s1\",\"process\":100,"
		"\"thread\":100,\"lane\":0,\"depth\":1,"
		"\"function\":\"work(\\\"x\\\")\",\"name\":\"work\","
		"\"symbol\":\"work(\\\"x\\\")\",\"module\":\"app\","
		"\"file\":\"src/app.c\",\"line\":5,\"start_ns\":1000,"
		"\"duration_ns\":5000,\"end\":\"return\"}\n";
	struct cst_trace *t = two_threads();
	struct folder f;
	struct cst_error err;
	const char *text;

	(void)state;
	folder_begin(&f, "t.jsonl");
	assert_int_equal(
		cst_trace_save(t, f.file, NULL, &draft_look, &everything, &err),
		8);
	text = file_text(f.file);
	assert_memory_equal(text, "{\"id\":\"1.s1\",\"parent\":null,", 27);
	assert_non_null(strstr(text, "\"start_ns\":null,\"duration_ns\":null,"
				     "\"end\":\"open\"}\n"));
	assert_memory_equal(strchr(text, '\n') + 1, second, sizeof(second) - 1);
	assert_non_null(strstr(text, "{\"id\":\"2.1\",\"parent\":null,"
				     "\"process\":100,\"thread\":107,"));
	assert_non_null(strstr(text, "leaf\\ufffd"));
	assert_non_null(strstr(text, "\"end\":\"unwound\""));
	folder_end(&f);
	cst_trace_free(t);
}

static void saved_traces_load_again(void **state)
{
	static char rows[DRAFT_OUT];
	struct cst_trace *t = two_threads(), *again;
	struct cst_status_report status;
	struct folder f;
	struct cst_error err;

	(void)state;
	strcpy(rows, draft_rows(t, &draft_look, &everything));
	folder_begin(&f, "t.cst");
	assert_int_equal(
		cst_trace_save(t, f.file, NULL, &draft_look, &everything, &err),
		8);
	cst_trace_free(t);
	assert_int_equal(cst_trace_load(f.file, &again, &err), 0);
	assert_string_equal(draft_rows(again, &draft_look, &everything), rows);
	assert_string_equal(cst_trace_command(again), "./app 1 2");
	cst_trace_status(again, &status);
	assert_int_equal(status.n_calls, 7);
	assert_int_equal(status.n_seeds, 1);
	assert_int_equal(status.n_open, 2);
	assert_int_equal(status.n_unwound, 1);
	assert_int_equal(status.duration_ns, 10000);
	cst_trace_free(again);
	folder_end(&f);
}

static void a_failed_save_leaves_the_old_file(void **state)
{
	struct cst_choice bad = {.filter = "("};
	struct cst_trace *t = two_threads();
	struct folder f;
	struct cst_error err;

	(void)state;
	folder_begin(&f, "t.txt");
	cst_trace_save(t, f.file, NULL, &draft_look, &everything, &err);
	assert_int_equal(
		cst_trace_save(t, f.file, "jsonl", &draft_look, &bad, &err),
		CST_BAD_INPUT);
	assert_memory_equal(file_text(f.file), "# ", 2);
	assert_int_equal(folder_count(&f), 1);
	folder_end(&f);
	cst_trace_free(t);
}

static void bad_targets_are_told(void **state)
{
	struct cst_trace *t = two_threads();
	struct cst_error err;
	char told[256];

	(void)state;
	assert_int_equal(cst_trace_save(t, "x.foo", NULL, &draft_look,
					&everything, &err),
			 CST_BAD_INPUT);
	snprintf(told, sizeof(told),
		 "cannot tell a format from 'x.foo': use one of %s",
		 cst_formats());
	assert_string_equal(err.text, told);
	assert_int_equal(cst_trace_save(t, "x.txt", "svg", &draft_look,
					&everything, &err),
			 CST_BAD_INPUT);
	assert_int_equal(cst_trace_save(t, "/no/such/t.txt", NULL, &draft_look,
					&everything, &err),
			 CST_FAILED);
	assert_string_equal(err.text, "cannot write '/no/such/t.txt': No such "
				      "file or directory");
	assert_int_equal(cst_trace_save(t, "/dev/full", "txt", &draft_look,
					&everything, &err),
			 CST_FAILED);
	cst_trace_free(t);
}

static int refuse(void *arg, const char *text, uint64_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return -1;
}

/* Interrupts, as when Ctrl-C comes in the middle. */
static int interrupt(void *arg, const char *text, uint64_t size)
{
	(void)text;
	*(uint64_t *)arg += size;
	cst_interrupt();
	return 0;
}

static void showing_can_be_ended(void **state)
{
	struct draft d;
	struct cst_trace *t;
	struct cst_error err;
	uint64_t size = 0;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	for (uint64_t i = 0; i < 200000; i++)
		draft_exit(&d, draft_enter(&d, 0, i * 10), i * 10 + 5);
	t = draft_trace(&d, 2000000);
	assert_int_equal(
		cst_trace_show(t, &draft_look, &everything, refuse, NULL, &err),
		CST_INTERRUPTED);
	assert_int_equal(cst_trace_show(t, &draft_look, &everything, interrupt,
					&size, &err),
			 CST_INTERRUPTED);
	assert_string_equal(err.text, "interrupted");
	assert_int_equal(cst_trace_show(t, &draft_look, &everything, interrupt,
					&size, NULL) < 0,
			 1);
	cst_trace_free(t);
}

static void much_is_announced(void **state)
{
	const struct cst_choice everything = {0}, chosen = {.filter = "f"};
	struct draft d;
	struct cst_trace *t;
	char text[160] = "";

	(void)state;
	draft_begin(&d);
	for (uint64_t i = 0; i < 1000; i++)
		draft_exit(&d, draft_enter(&d, draft_site(&d, "f", 1), i * 10),
			   i * 10 + 5);
	t = draft_trace(&d, 20000);
	assert_false(cst_trace_announce(t, "t.txt", NULL, &everything, text,
					sizeof(text)));
	/* The trace pretends that there are many more calls like these. */
	t->status.n_calls = 50000000;
	assert_true(cst_trace_announce(t, "t.txt", NULL, &everything, text,
				       sizeof(text)));
	assert_string_equal(text, "about 2 GB: depth, filter or min-time make "
				  "it less, a .cst has all in little");
	/* Ctrl-C ended the command before. */
	cst_interrupt();
	assert_true(cst_trace_announce(t, "t.txt", NULL, &everything, text,
				       sizeof(text)));
	assert_true(cst_trace_announce(t, "t", "jsonl", &everything, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "about 13 GB"));
	assert_false(cst_trace_announce(t, "t.cst", NULL, &everything, text,
					sizeof(text)));
	assert_false(cst_trace_announce(t, "t.folded", NULL, &everything, text,
					sizeof(text)));
	assert_false(cst_trace_announce(t, "t.txt", NULL, &chosen, text,
					sizeof(text)));
	assert_true(cst_trace_announce(t, "t.html", NULL, &everything, text,
				       sizeof(text)));
	assert_non_null(strstr(text, "of 50000000 calls a page has only the "
				     "2000000 longest one by one"));
	t->status.n_calls = 2000000;
	assert_false(cst_trace_announce(t, "t.html", NULL, &everything, text,
					sizeof(text)));
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_shows_both_threads_in_order),
		cmocka_unit_test(fold_joins_equal_leaves),
		cmocka_unit_test(last_shows_the_callers_first),
		cmocka_unit_test(around_shows_callers_and_neighbours),
		cmocka_unit_test(unknown_calls_are_told),
		cmocka_unit_test(the_report_counts_and_sums),
		cmocka_unit_test(the_report_follows_the_choice),
		cmocka_unit_test(recursion_counts_once_in_the_total),
		cmocka_unit_test(json_lines_have_the_contracts_keys),
		cmocka_unit_test(saved_traces_load_again),
		cmocka_unit_test(a_failed_save_leaves_the_old_file),
		cmocka_unit_test(bad_targets_are_told),
		cmocka_unit_test(showing_can_be_ended),
		cmocka_unit_test(much_is_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
