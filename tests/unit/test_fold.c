/* SPDX-License-Identifier: MIT
 *
 * Calls as words, one for each in the order of entry: blanks say how deep it
 * is, then come its function, a letter, and what is special about it: "!" it
 * is slow, "^" it was unwound, "?" it is open, "3" it is called from line 3.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rows/fold.h"
#include "rows/fold_live.h"

enum { N_SITES = 5000, USUAL_NS = 1000, PLACES = 4000 };

static struct call_site sites[N_SITES];
static struct function functions[N_SITES];
static const struct names names = {.functions = functions,
				   .n_functions = N_SITES,
				   .sites = sites,
				   .n_sites = N_SITES};

struct rows {
	char text[8192];
	size_t n;
	uint64_t n_calls, n_rows;
};

static int put_row(void *arg, const struct folded *row)
{
	struct rows *r = arg;
	char *p = r->text + r->n;

	p += sprintf(p, "%*s%s%c", (int)row->call.depth, "",
		     row->is_close ? "<-" : "", 'a' + (int)row->call.site);
	if (row->n_calls > 1)
		p += sprintf(p, "*%llu", (unsigned long long)row->n_calls);
	if (row->n_levels > 1)
		p += sprintf(p, "/%u", row->n_levels);
	if (row->n_loop)
		p += sprintf(p, "@%u", row->n_loop);
	if (row->first_line < row->last_line)
		p += sprintf(p, ":%u-%u", row->first_line, row->last_line);
	else if (row->last_line)
		p += sprintf(p, ":%u", row->last_line);
	if (row->call.end == CALL_OPEN && !row->is_close)
		p += sprintf(p, "?");
	p += sprintf(p, "\n");
	r->n = (size_t)(p - r->text);
	r->n_calls += row->n_calls;
	r->n_rows++;
	return 0;
}

/* One call at `*p`, which goes behind it. */
static struct shown call_at(const char **p, uint64_t number)
{
	struct shown call = {.number = number, .start_ns = number * 10};

	for (; **p == ' '; ++*p)
		call.depth++;
	call.site = (uint32_t)(*(*p)++ - 'a');
	sites[call.site].function = call.site;
	call.duration_ns = USUAL_NS;
	call.end = CALL_RETURN;
	for (; **p && **p != '\n'; ++*p) {
		if (**p >= '0' && **p <= '9') {
			call.from = PLACES + (uint32_t)(**p - '0');
			sites[call.from].line = (uint32_t)(**p - '0');
			sites[call.from].file = "a.c";
		} else if (**p == '!')
			call.duration_ns = 1000 * USUAL_NS;
		else if (**p == '^')
			call.end = CALL_UNWOUND;
		else
			call.end = CALL_OPEN;
	}
	if (**p)
		++*p;
	return call;
}

static uint64_t add_all(struct fold *f, const char *calls)
{
	uint64_t n = 0;

	while (*calls) {
		struct shown call = call_at(&calls, ++n);

		assert_int_equal(fold_add(f, &call, 0), 0);
	}
	return n;
}

static void check(const char *calls, const char *expected)
{
	struct rows r = {0};
	struct fold *f = fold_new(&names, put_row, &r);
	uint64_t n = add_all(f, calls);

	assert_int_equal(fold_end(f), 0);
	fold_free(f);
	assert_string_equal(r.text, expected);
	assert_int_equal(r.n_calls, n);
}

static void different_calls_stay(void **state)
{
	(void)state;
	check("a\n b\n  c\n d\n b\n", "a\n b\n  c\n d\n b\n");
	check("", "");
}

static void equal_neighbours_are_one_row(void **state)
{
	(void)state;
	check("a\n b\n b\n b\n c\n", "a\n b*3\n c\n");
	check("a\n b\n  c\n  d\n b\n  c\n  d\n", "a\n b*2\n  c*2\n  d*2\n");
}

static void counts_may_differ(void **state)
{
	(void)state;
	check("a\n b\n  c\n b\n  c\n  c\n b\n  c\n  c\n  c\n",
	      "a\n b*3\n  c*6\n");
}

static void callees_may_differ(void **state)
{
	(void)state;
	check("a\n b\n  c\n b\n  d\n   e\n b\n  c\n  d\n",
	      "a\n b*3\n  c*2\n  d*2\n   e\n");
	check("a\n b\n  c\n  d\n  c\n  d\n b\n  c\n b\n  d\n  e\n",
	      "a\n b*3\n  c*3@2\n  d*3\n  e\n");
}

static void a_sequence_that_repeats_is_a_loop(void **state)
{
	(void)state;
	check("a\n b\n c\n b\n c\n b\n c\n d\n", "a\n b*3@2\n c*3\n d\n");
	check("a\n b\n c\n d\n b\n c\n c\n d\n d\n b\n c\n d\n",
	      "a\n b*3@3\n c*4\n d*4\n");
	/* One in the other. */
	check("a\n b\n c\n d\n c\n d\n b\n c\n d\n c\n d\n c\n d\n",
	      "a\n b*2@2\n c*5@2\n d*5\n");
	check("a\n b\n c\n b\n c\n b\n", "a\n b*3@2\n c*2\n");
}

static void recursion_is_one_row(void **state)
{
	(void)state;
	check("a\n b\n  b\n   b\n c\n", "a\n b*3/3\n c\n");
	check("a\n b\n  c\n  b\n   c\n   b\n    d\n  b\n   c\n",
	      "a\n b*4/3\n  c*3\n  d\n");
}

static void functions_that_call_each_other_are_a_row_each(void **state)
{
	(void)state;
	check("a\n b\n  c\n   b\n    c\n     b\n d\n",
	      "a\n b*3/3\n  c*2/2\n d\n");
	/* A cycle of several functions; what else they call is below them. */
	check("a\n b\n  e\n  c\n   d\n    b\n     c\n      d\n       e\n",
	      "a\n b*2/2\n  e\n  c*2/2\n   d*2/2\n    e\n");
	/* Not beyond what was unwound. */
	check("a\n b\n  c^\n   b\n    c\n", "a\n b\n  c\n   b\n    c\n");
}

static void calls_from_several_lines_are_a_row_of_them_all(void **state)
{
	(void)state;
	check("a\n b1\n b1\n b2\n", "a\n b*2:1\n b:2\n");
	check("a\n b1\n b2\n b3\n b4\n c\n", "a\n b*4:1-4\n c\n");
	check("a\n b3\n b1\n b1\n b2\n b3\n", "a\n b*5:1-3\n");
	check("a\n b1\n c1\n b2\n c2\n b3\n c3\n b4\n c4\n",
	      "a\n b*4@2:1-4\n c*4:1-4\n");
	check("a\n b1\n c\n b2\n c\n", "a\n b:1\n c\n b:2\n c\n");
	/* Below equal calls those from other lines are rows of their own. */
	check("a\n b\n  c1\n  c2\n b\n  c1\n  c2\n",
	      "a\n b*2\n  c*2:1\n  c*2:2\n");
}

static void a_loop_may_end_within_a_round(void **state)
{
	(void)state;
	check("a\n b\n c\n d\n b\n c\n d\n b\n c\n e\n",
	      "a\n b*3@3\n c*3\n d*2\n e\n");
}

static void unwound_and_open_calls_stay(void **state)
{
	(void)state;
	check("a\n b\n b^\n b\n b\n", "a\n b\n b\n b*2\n");
	check("a\n b\n  c\n b\n  c^\n", "a\n b\n  c\n b\n  c\n");
	check("a?\n b\n b\n b?\n  b?\n", "a?\n b*2\n b?\n  b?\n");
}

static void slow_calls_stay(void **state)
{
	(void)state;
	check("a\n b\n b\n b!\n b\n", "a\n b*3\n b\n");
	check("a\n b!\n b\n b\n", "a\n b\n b*2\n");
	check("a\n b\n  c\n b\n  c!\n b\n  c\n", "a\n b*3\n  c*2\n  c\n");
	/* They stand behind the loop that they are of, which goes on. */
	check("a\n b\n c\n b\n c!\n b\n c\n b\n c!\n b\n c\n",
	      "a\n b*5@2\n c*3\n c*2\n");
	check("a\n b\n c!\n b\n c\n b\n c\n", "a\n b\n c\n b*2@2\n c*2\n");
	/* Calls that are always slow are not. */
	check("a\n b!\n b!\n b!\n", "a\n b*3\n");
}

static void check_only(const char *calls, uint64_t number, const char *expected)
{
	const struct callid id = {1, 1, number, 0};
	struct rows r = {0};
	struct fold *f = fold_new(&names, put_row, &r);

	fold_only(f, 0, &id);
	add_all(f, calls);
	assert_int_equal(fold_end(f), 0);
	fold_free(f);
	assert_string_equal(r.text, expected);
}

static void only_unfolds_one_row(void **state)
{
	(void)state;
	check_only("a\n b\n  c\n  c\n b\n  c\n  c\n b\n  c\n d\n", 2,
		   " b\n  c*2\n b\n  c*2\n b\n  c\n");
	check_only("a\n b\n c\n b\n c\n b\n", 2, " b\n b\n b\n");
	check_only("a\n b\n  b\n   b\n   b\n c\n", 2, " b\n  b\n   b\n   b\n");
	check_only("a\n b\n  c\n   b\n    c\n     b\n d\n", 2,
		   " b\n  c\n   b\n    c\n     b\n");
	check_only("a\n b1\n b2\n b3\n b4\n c\n", 2,
		   " b:1\n b:2\n b:3\n b:4\n");
	check_only("a\n b1\n c1\n b2\n c2\n b3\n c3\n", 2,
		   " b:1\n b:2\n b:3\n");
	check_only("a\n b\n", 3, "");
}

static int count_row(void *arg, const struct folded *row)
{
	*(uint64_t *)arg += row->n_calls;
	return 0;
}

/* What is held is bounded, whatever comes. */
static void rows_are_given_on_the_way(void **state)
{
	const uint32_t n = 200000;
	uint64_t n_given = 0, most_held = 0;
	struct fold *f = fold_new(&names, count_row, &n_given);

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		/* In no order that repeats. */
		uint32_t random = (i * 2654435761u) >> 16;
		struct shown call = {.number = i + 1,
				     .duration_ns = 1,
				     .lane = i % 2,
				     .depth = i > 1 ? 1 + random % 3 : 0,
				     .site = random / 3 % N_SITES,
				     .end = CALL_RETURN};

		sites[call.site].function = call.site;
		assert_int_equal(fold_add(f, &call, 0), 0);
		if (most_held < i - n_given)
			most_held = i - n_given;
	}
	assert_true(n_given > 0 && most_held < n / 2);
	assert_int_equal(fold_end(f), 0);
	assert_int_equal(n_given, n);
	fold_free(f);
}

/* A deep one, too, without recursion of our own. */
static void deep_calls_are_given(void **state)
{
	const uint32_t n = 300000;
	uint64_t n_given = 0;
	struct fold *f = fold_new(&names, count_row, &n_given);

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		struct shown call = {.number = i + 1,
				     .depth = i,
				     .site = i % 2,
				     .end = CALL_RETURN};

		assert_int_equal(fold_add(f, &call, 0), 0);
	}
	assert_int_equal(fold_end(f), 0);
	assert_int_equal(n_given, n);
	fold_free(f);
}

/* Each round of an event loop is looked at while it is open: from the second on
 * they are one row that counts up. */
static void rounds_that_are_seen_open_are_counted(void **state)
{
	struct rows r = {0};
	struct fold *f = fold_new(&names, put_row, &r);
	struct shown caller = {.number = 1, .end = CALL_OPEN};

	(void)state;
	fold_live(f);
	assert_int_equal(fold_add(f, &caller, 0), 0);
	for (uint64_t n = 2; n < 7; n++) {
		struct shown round = {.number = n,
				      .depth = 1,
				      .site = 1,
				      .start_ns = n * 10 * USUAL_NS,
				      .end = CALL_OPEN};

		sites[1].function = 1;
		assert_int_equal(fold_add(f, &round, 0), 0);
		assert_int_equal(fold_show(f, round.start_ns + 5, 0), 0);
		round.duration_ns = USUAL_NS;
		round.end = CALL_RETURN;
		assert_int_equal(fold_close(f, &round, 0), 0);
	}
	assert_int_equal(fold_show(f, 100ull * USUAL_NS, 1), 0);
	assert_string_equal(r.text, "a?\n b?\n <-b\n b*2\n b*3\n b*4\n b*5\n");
	fold_free(f);
}

/* A call that counts up a row of the screen has a row of its own if something
 * below it is slow for the first time. */
static void slow_calls_below_counted_ones_are_seen(void **state)
{
	static const char *const rounds[] = {"  b\n   c\n", "  b\n   c\n",
					     "  b\n   c!\n", "  b\n   c!\n",
					     "  b\n   c\n   c!\n"};
	struct rows r = {0};
	struct fold *f = fold_new(&names, put_row, &r);

	(void)state;
	fold_live(f);
	add_all(f, "a?\n");
	for (uint32_t i = 0; i < 5; i++) {
		add_all(f, rounds[i]);
		assert_int_equal(fold_show(f, i, 1), 0);
	}
	assert_string_equal(r.text, "a?\n  b\n   c\n  b*2\n  b\n   c\n"
				    "  b*4\n  b*5\n");
	fold_free(f);
}

static int put_start(void *arg, const struct folded *row)
{
	struct rows *r = arg;

	r->n += (size_t)sprintf(r->text + r->n, "%s %llu\n",
				row->is_count ? "count" : "row",
				(unsigned long long)row->call.start_ns);
	return 0;
}

/* Live, a row begins when the call of its ID did, as what is below it does; its
 * count when the last one did. */
static void a_row_begins_with_its_first_call(void **state)
{
	struct rows r = {0};
	struct fold *f = fold_new(&names, put_start, &r);

	(void)state;
	fold_live(f);
	add_all(f, "a?\n");
	assert_int_equal(fold_show(f, 1, 1), 0);
	add_all(f, " b\n  c\n b\n  c\n");
	assert_int_equal(fold_show(f, 100, 1), 0);
	assert_string_equal(r.text, "row 10\nrow 10\nrow 20\n");
	r.n = 0;
	add_all(f, " b\n  c\n b\n  c\n b\n");
	assert_int_equal(fold_show(f, 200, 1), 0);
	assert_string_equal(r.text, "count 50\n");
	fold_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_calls_stay),
		cmocka_unit_test(equal_neighbours_are_one_row),
		cmocka_unit_test(counts_may_differ),
		cmocka_unit_test(callees_may_differ),
		cmocka_unit_test(a_sequence_that_repeats_is_a_loop),
		cmocka_unit_test(recursion_is_one_row),
		cmocka_unit_test(functions_that_call_each_other_are_a_row_each),
		cmocka_unit_test(
			calls_from_several_lines_are_a_row_of_them_all),
		cmocka_unit_test(a_loop_may_end_within_a_round),
		cmocka_unit_test(unwound_and_open_calls_stay),
		cmocka_unit_test(slow_calls_stay),
		cmocka_unit_test(only_unfolds_one_row),
		cmocka_unit_test(rows_are_given_on_the_way),
		cmocka_unit_test(deep_calls_are_given),
		cmocka_unit_test(rounds_that_are_seen_open_are_counted),
		cmocka_unit_test(slow_calls_below_counted_ones_are_seen),
		cmocka_unit_test(a_row_begins_with_its_first_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
