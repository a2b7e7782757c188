/* SPDX-License-Identifier: MIT
 *
 * Memory runs out at each of the engine's allocations in turn: the failure is
 * "out of memory" and no other, and nothing is left behind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cstrace/engine.h"
#include "trace_builder.h"

/* How many allocations succeed before one fails; negative: all do. */
static _Atomic int n_left = -1;
static _Atomic int has_failed;

static int fails(void)
{
	if (n_left < 0 || n_left-- > 0)
		return 0;
	has_failed = 1;
	return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Calls make() with the first, the second, ... allocation failing, until it
 * comes to none that fails. */
static void run_out(int (*make)(struct cst_error *err))
{
	for (int i = 0;; i++) {
		struct cst_error err = {{0}};
		int status;

		n_left = i;
		has_failed = 0;
		status = make(&err);
		n_left = -1;
		if (!has_failed) {
			assert_int_equal(status, 0);
			assert_true(i > 0);
			return;
		}
		/* Some can be done without: all that stays is right. */
		if (status == 0)
			continue;
		if (status != CST_MEMORY)
			print_message("allocation %d: %d %s\n", i, status,
				      err.text);
		assert_int_equal(status, CST_MEMORY);
		assert_string_equal(err.text, "out of memory");
	}
}

static int make_recorder(struct cst_error *err)
{
	static const struct cst_callbacks callbacks;
	struct cst_recorder_options options = {
		.spool_dir = "/tmp", .pool_chunks = 2, .command = "test"};
	struct cst_recorder *r = NULL;
	int status = cst_recorder_open(&options, &callbacks, &r, err);

	n_left = -1;
	if (status < 0)
		assert_null(r);
	cst_recorder_close(r);
	return status;
}

static void test_a_recorder(void **state)
{
	(void)state;
	run_out(make_recorder);
}

static char path[] = "/tmp/cstrace-memory-XXXXXX";

static int make_file(void **state)
{
	struct draft d;
	struct cst_error err;
	struct cst_trace *t;
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	draft_begin(&d);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "main", 1), 10), 20);
	t = draft_trace(&d, 30);
	assert_true(cst_trace_save(t, path, "cst", NULL,
				   &(struct cst_choice){0}, &err) > 0);
	cst_trace_free(t);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int make_trace(struct cst_error *err)
{
	struct cst_trace *t = NULL;
	int status = cst_trace_load(path, &t, err);

	n_left = -1;
	if (status < 0)
		assert_null(t);
	cst_trace_free(t);
	return status;
}

static void test_a_trace(void **state)
{
	(void)state;
	run_out(make_trace);
}

/* ---- what is made of a trace ----------------------------------------------
 */

static struct cst_trace *trace;
static const char *format;
static const struct cst_choice *choice;
static struct cst_look look;
static char saved[64];

static int ignore_text(void *arg, const char *text, uint64_t size)
{
	(void)arg, (void)text, (void)size;
	return 0;
}

static int make_saved(struct cst_error *err)
{
	int64_t n = cst_trace_save(trace, saved, format, &look, choice, err);

	n_left = -1;
	return n < 0 ? (int)n : 0;
}

/* What was saved: a file, or a folder of files. */
static void remove_folder(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", name);
	assert_int_equal(system(command), 0);
}

static int make_report(struct cst_error *err)
{
	int64_t n = cst_trace_report(trace, &(struct cst_report){0}, choice,
				     ignore_text, NULL, err);

	return n < 0 ? (int)n : 0;
}

static int make_graph(struct cst_error *err)
{
	int64_t n = cst_trace_graph(trace, &(struct cst_graph){0}, choice,
				    ignore_text, NULL, err);

	return n < 0 ? (int)n : 0;
}

static int make_diff(struct cst_error *err)
{
	int64_t n = cst_trace_diff(trace, trace, &(struct cst_diff){0}, choice,
				   ignore_text, NULL, err);

	return n < 0 ? (int)n : 0;
}

static int make_expectation(struct cst_error *err)
{
	int64_t n = cst_trace_golden(trace, saved, 0, choice, NULL, NULL, err);

	n_left = -1;
	return n < 0 ? (int)n : 0;
}

static int make_comparison(struct cst_error *err)
{
	int64_t n = cst_trace_expect(trace, saved, 0, choice, ignore_text, NULL,
				     err);

	return n < 0 ? (int)n : 0;
}

static void make_everything(void)
{
	char names[256], *rest = names;

	snprintf(names, sizeof(names), "%s", cst_formats());
	while ((format = strsep(&rest, " "))) {
		if (!strcmp(format, "html"))
			continue; /* its page is made elsewhere */
		run_out(make_saved);
		remove_folder(saved);
	}
	run_out(make_report);
	run_out(make_graph);
	run_out(make_diff);
	run_out(make_expectation);
	run_out(make_comparison);
	unlink(saved);
}

static void test_what_is_made_of_it(void **state)
{
	const struct cst_choice choices[] = {
		{0},
		{.filter = "/^m.in$/", .exclude = "nothing"},
		{.from = "main", .until = "main"},
	};
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_trace_load(path, &trace, &err), 0);
	snprintf(saved, sizeof(saved), "%s.out", path);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		choice = &choices[i];
		look.fold = i % 2;
		make_everything();
	}
	cst_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_recorder),
		cmocka_unit_test(test_a_trace),
		cmocka_unit_test(test_what_is_made_of_it),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
