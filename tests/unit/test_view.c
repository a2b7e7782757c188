/* SPDX-License-Identifier: MIT
 *
 * With a large trace a thread runs ahead of the reader of the calls: they are
 * unchanged, and it ends when nobody wants more.
 */
#include "trace_builder.h"

#include "base/outfile.h"
#include "trace/loader.h"
#include "trace/view.h"

enum { N_CALLS = 600000, EVERY = 1000, TOP = 1 };

/* main calls leaf again and again, and every so often rare. */
static struct cst_trace *make_trace(void)
{
	struct draft d;
	uint32_t leaf, rare;
	uint64_t top;

	draft_begin(&d);
	top = draft_enter(&d, draft_site(&d, "main", 1), 0);
	leaf = draft_site(&d, "leaf", 2);
	rare = draft_site(&d, "rare", 3);
	for (uint64_t i = 1; i < N_CALLS; i++)
		draft_exit(&d, draft_enter(&d, i % EVERY ? leaf : rare, i * 10),
			   i * 10 + 5);
	draft_exit(&d, top, N_CALLS * 10);
	return draft_trace(&d, N_CALLS * 10);
}

static struct view *open_view(const struct cst_trace *t, const char *filter)
{
	const struct cst_choice choice = {.filter = filter};
	struct cst_error err;
	struct view *v;

	assert_int_equal(view_new(t, &choice, 0, &v, &err), 0);
	return v;
}

/* Every step-th call comes, in order, from the first on. */
static void check_all(struct view *v, uint64_t first, uint64_t step)
{
	struct cst_error err = {""};
	struct shown *call;
	uint64_t expected = first;
	int got;

	while ((got = view_next(v, &call, &err)) > 0) {
		assert_int_equal(call->number, expected);
		assert_int_equal(call->start_ns, (expected - 1) * 10);
		expected += step;
	}
	assert_int_equal(got, 0);
	assert_int_equal(view_next(v, &call, &err), 0);
	assert_int_equal((expected - first) / step,
			 (N_CALLS - first) / step + 1);
}

static void each_call_is_told_once(void **state)
{
	struct cst_trace *t = make_trace();
	struct view *v = open_view(t, NULL);

	(void)state;
	check_all(v, TOP, 1);
	view_free(v);
	cst_trace_free(t);
}

static void few_visible_calls_are_all_told(void **state)
{
	struct cst_trace *t = make_trace();
	struct view *v = open_view(t, "^rare$");

	(void)state;
	check_all(v, EVERY + 1, EVERY);
	view_free(v);
	cst_trace_free(t);
}

static void one_may_leave_at_any_time(void **state)
{
	struct cst_trace *t = make_trace();
	struct cst_error err;
	struct shown *call;

	(void)state;
	for (uint32_t n = 1; n < N_CALLS; n *= 3) {
		struct view *v = open_view(t, NULL);

		for (uint32_t i = 0; i < n; i++)
			assert_true(view_next(v, &call, &err) > 0);
		view_free(v);
	}
	cst_trace_free(t);
}

static void an_interrupt_ends_it(void **state)
{
	struct cst_trace *t = make_trace();
	struct view *v = open_view(t, NULL);
	struct cst_error err = {""};
	struct shown *call;
	uint64_t n_told = 0;
	int got;

	(void)state;
	while ((got = view_next(v, &call, &err)) > 0)
		if (++n_told == N_CALLS / 4)
			cst_interrupt();
	assert_int_equal(got, CST_INTERRUPTED);
	assert_string_equal(err.text, "interrupted");
	assert_true(n_told < N_CALLS);
	view_free(v);
	cst_trace_free(t);
	outfile_begin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_told_once),
		cmocka_unit_test(few_visible_calls_are_all_told),
		cmocka_unit_test(one_may_leave_at_any_time),
		cmocka_unit_test(an_interrupt_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
