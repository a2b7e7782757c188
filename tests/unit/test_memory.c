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
static int n_left = -1;
static int has_failed;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_recorder),
		cmocka_unit_test(test_a_trace),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
