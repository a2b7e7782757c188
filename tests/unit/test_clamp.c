/* SPDX-License-Identifier: MIT
 *
 * Calls that nest strictly whatever their times say, and what is summed up
 * over them: by stack, and as a graph of functions.
 */
#include "trace_builder.h"

#include "trace/call_paths.h"
#include "formats/chrome.h"
#include "trace/clamp.h"
#include "formats/graph.h"
#include "formats/speedscope.h"

static const struct cst_choice everything = {.std = 1};

/* ---- pairs -------------------------------------------------------------- */

static void pairs_are_numbered_in_order_of_first_use(void **state)
{
	struct pairs p = {0};

	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++)
			assert_int_equal(
				pairs_number(&p, i % 70, i / 70, NO_PAIR), i);
	assert_int_equal(p.n, 5000);
	assert_int_equal(p.all[4999].a, 4999 % 70);
	assert_int_equal(p.all[4999].b, 4999 / 70);
	pairs_release(&p);
}

static void pairs_end_at_the_most(void **state)
{
	struct pairs p = {0};

	(void)state;
	assert_int_equal(pairs_number(&p, 1, 1, 2), 0);
	assert_int_equal(pairs_number(&p, 2, 1, 2), 1);
	assert_int_equal(pairs_number(&p, 3, 1, 2), NO_PAIR);
	assert_int_equal(pairs_number(&p, 2, 1, 2), 1);
	assert_int_equal(p.n, 2);
	pairs_release(&p);
}

/* ---- nesting ------------------------------------------------------------ */

static struct shown enter(struct clamp *s, uint32_t depth, uint64_t start,
			  uint64_t duration)
{
	struct shown call = {
		.depth = depth, .start_ns = start, .duration_ns = duration};

	while (clamp_over(s, &call))
		;
	assert_int_equal(clamp_enter(s, 0, &call), 0);
	return call;
}

static void check(struct shown call, uint64_t start, uint64_t duration)
{
	assert_int_equal(call.start_ns, start);
	assert_int_equal(call.duration_ns, duration);
}

static void callees_are_trimmed_to_their_caller(void **state)
{
	struct clamp s = {0};

	(void)state;
	check(enter(&s, 0, 100, 50), 100, 50);
	check(enter(&s, 1, 110, 41), 110, 40); /* rounding */
	check(enter(&s, 2, 90, 10), 110, 0);   /* before its caller */
	check(enter(&s, 2, 120, 5), 120, 5);
	check(enter(&s, 2, 122, 5), 125, 2); /* before the one before it */
	check(enter(&s, 1, 400, 5), 150, 0); /* behind its caller */
	check(enter(&s, 0, 10, UINT64_MAX), 150, UINT64_MAX - 150);
	check(enter(&s, 1, UINT64_MAX, 5), UINT64_MAX, 0);
	clamp_release(&s);
}

static void a_gap_stays_between_calls_that_touch(void **state)
{
	struct clamp s = {.gap = 2, .shortest = 5};

	(void)state;
	check(enter(&s, 0, 100, 100), 100, 100);
	check(enter(&s, 1, 100, 20), 100, 20); /* starts are alike */
	check(enter(&s, 1, 120, 0), 122, 5);   /* which the one before ends */
	check(enter(&s, 1, 120, 80), 129, 69); /* and its caller */
	check(enter(&s, 2, 200, 0), 191, 5);
	check(enter(&s, 3, 200, 0), 191, 3); /* no room */
	check(enter(&s, 3, 200, 0), 196, 0);
	check(enter(&s, 0, 200, 10), 202, 8);
	check(enter(&s, 0, UINT64_MAX - 1, 1), UINT64_MAX - 7, 5);
	check(enter(&s, 0, UINT64_MAX, 1), UINT64_MAX, 0);
	clamp_release(&s);
}

static void calls_end_from_the_inside_out(void **state)
{
	struct clamp s = {0};
	const struct shown next = {.depth = 1};

	(void)state;
	enter(&s, 0, 0, 100);
	enter(&s, 1, 10, 50);
	enter(&s, 2, 20, 30);
	assert_int_equal(clamp_over(&s, &next)->end_ns, 50);
	assert_int_equal(clamp_over(&s, &next)->end_ns, 60);
	assert_null(clamp_over(&s, &next));
	assert_int_equal(clamp_over(&s, NULL)->end_ns, 100);
	assert_null(clamp_over(&s, NULL));
	clamp_release(&s);
}

/* ---- sums --------------------------------------------------------------- */

/* main > f > g > f > g, then main > g; on another thread f > g. */
static struct cst_trace *in_turns(void)
{
	struct draft d;
	struct lane *second;
	uint32_t s_main, s_f, s_g, s_g_again;
	uint64_t m, f, g, f2, g2;

	draft_begin(&d);
	s_main = draft_site(&d, "main", 0);
	s_f = draft_site(&d, "f", 10);
	s_g = draft_site(&d, "g", 20);
	s_g_again = draft_site(&d, "g", 30);
	writer_thread(d.w, 1, 100, 2, 107, "two");
	second = writer_lane(d.w, 1, 1, 0);
	m = draft_enter(&d, s_main, 0);
	f = draft_enter(&d, s_f, 100);
	g = draft_enter(&d, s_g, 200);
	f2 = draft_enter(&d, s_f, 300);
	g2 = draft_enter(&d, s_g, 400);
	draft_exit(&d, g2, 450);
	draft_exit(&d, f2, 500);
	draft_exit(&d, g, 700);
	draft_exit(&d, f, 900);
	g = draft_enter(&d, s_g_again, 910);
	draft_exit(&d, g, 920);
	draft_exit(&d, m, 1000);
	f = draft_put(second, (struct draft_call){.start = DRAFT_START + 50,
						  .site = s_f,
						  .number = 1,
						  .thread = 1});
	g = draft_put(second, (struct draft_call){.start = DRAFT_START + 60,
						  .site = s_g,
						  .number = 2,
						  .thread = 1});
	lane_exit(second, g, DRAFT_START + 70, CALL_UNWOUND);
	lane_exit(second, f, DRAFT_START + 80, CALL_RETURN);
	return draft_trace(&d, 1000);
}

/* "main/f/g 1 600 400": calls, total and own time of each stack. */
static const char *stacks_text(const struct cst_trace *t,
			       const struct cst_choice *choice)
{
	static char text[1024];
	struct call_paths s;
	struct cst_error err = {""};
	char *p = text;

	if (call_paths_make(&s, t, choice, UINT32_MAX, &err) < 0)
		fail_msg("%s", err.text);
	*p = '\0';
	for (uint32_t i = 0; i < s.nodes.n; i++) {
		uint32_t path[16], n = 0;

		for (uint32_t k = i; k != NO_STACK; k = s.nodes.all[k].a)
			path[n++] = s.nodes.all[k].b;
		while (n--)
			p += sprintf(p, "%s%s",
				     t->names->functions[path[n]].name,
				     n ? "/" : "");
		p += sprintf(p, " %llu %llu %llu\n",
			     (unsigned long long)s.sums[i].total.n_calls,
			     (unsigned long long)s.sums[i].total.total_ns,
			     (unsigned long long)s.sums[i].total.self_ns);
	}
	call_paths_release(&s);
	return text;
}

static void stacks_sum_over_threads(void **state)
{
	const struct cst_choice leaves = {.exclude = "f", .std = 1};
	struct cst_trace *t = in_turns();

	(void)state;
	assert_string_equal(stacks_text(t, &everything),
			    "main 1 1000 190\n"
			    "main/f 1 800 300\n"
			    "main/f/g 1 500 300\n"
			    "main/f/g/f 1 200 150\n"
			    "main/f/g/f/g 1 50 50\n"
			    "main/g 1 10 10\n"
			    "f 1 30 20\n"
			    "f/g 1 10 10\n");
	assert_string_equal(stacks_text(t, &leaves), "main 1 1000 490\n"
						     "main/g 2 510 460\n"
						     "main/g/g 1 50 50\n"
						     "g 1 10 10\n");
	cst_trace_free(t);
}

static void check_function(const struct graph *g, uint32_t id, uint64_t n,
			   uint64_t total, uint64_t self)
{
	assert_int_equal(g->functions[id].n_calls, n);
	assert_int_equal(g->functions[id].total_ns, total);
	assert_int_equal(g->functions[id].self_ns, self);
}

static void check_arc(struct graph *g, uint32_t caller, uint32_t site,
		      uint64_t n, uint64_t total)
{
	uint32_t arc = pairs_number(&g->arcs, caller, site, 0);

	assert_int_not_equal(arc, NO_PAIR);
	assert_int_equal(g->sums[arc].n_calls, n);
	assert_int_equal(g->sums[arc].total_ns, total);
}

static void the_graph_counts_recursion_once(void **state)
{
	enum { MAIN, F, G };
	enum { S_MAIN, S_F, S_G, S_G_AGAIN };
	struct cst_trace *t = in_turns();
	struct graph g;
	struct cst_error err;

	(void)state;
	assert_int_equal(graph_make(&g, t, &everything, &err), 0);
	check_function(&g, MAIN, 1, 1000, 190);
	check_function(&g, F, 3, 830, 470);
	check_function(&g, G, 4, 520, 370);
	assert_int_equal(g.total_ns, 1030);
	assert_int_equal(g.n_calls, 8);
	assert_int_equal(g.arcs.n, 6);
	check_arc(&g, NO_CALLER, S_MAIN, 1, 1000);
	check_arc(&g, NO_CALLER, S_F, 1, 30);
	check_arc(&g, MAIN, S_F, 1, 800);
	check_arc(&g, F, S_G, 3, 510);
	check_arc(&g, G, S_F, 1, 0);
	check_arc(&g, MAIN, S_G_AGAIN, 1, 10);
	graph_release(&g);
	cst_trace_free(t);
}

/* ---- bounds ------------------------------------------------------------- */

/* f in f, DEEP levels, none of which returns. */
static struct cst_trace *deep(uint32_t n)
{
	struct draft d;
	uint32_t site;

	draft_begin(&d);
	site = draft_site(&d, "f", 1);
	for (uint32_t i = 0; i < n; i++)
		draft_enter(&d, site, i);
	return draft_trace(&d, n);
}

static void deep_stacks_count_for_the_deepest_that_is_kept(void **state)
{
	enum { DEEPEST = 1024, DEEP = DEEPEST + 500 };
	struct cst_trace *t = deep(DEEP);
	struct call_paths s;
	struct cst_error err;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(call_paths_make(&s, t, &everything, DEEPEST, &err), 0);
	assert_int_equal(s.nodes.n, DEEPEST);
	assert_int_equal(s.n_calls, DEEP);
	assert_int_equal(s.n_left_out, 500);
	for (uint32_t i = 0; i < s.nodes.n; i++)
		sum += s.sums[i].total.self_ns;
	assert_int_equal(sum, DEEP);
	assert_int_equal(s.sums[DEEPEST - 1].total.self_ns, 501);
	call_paths_release(&s);
	cst_trace_free(t);
}

/* Nothing is written for a trace in which nothing is seen, but a whole file. */
static void nothing_chosen_is_a_whole_file(void **state)
{
	const struct cst_choice none = {.filter = "nonesuch"};
	struct cst_trace *t = in_turns();
	static struct output out;
	struct cst_error err;

	(void)state;
	out.len = 0;
	assert_int_equal(chrome_write(t, &none, output_write, &out, &err), 0);
	assert_string_equal(out.text + out.len - 4, "\n]}\n");
	out.len = 0;
	assert_int_equal(speedscope_write(t, &none, output_write, &out, &err),
			 0);
	assert_non_null(strstr(out.text, "\"profiles\":[\n],\n\"shared\":{"));
	assert_string_equal(out.text + out.len - 5, "\n]}}\n");
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_numbered_in_order_of_first_use),
		cmocka_unit_test(pairs_end_at_the_most),
		cmocka_unit_test(callees_are_trimmed_to_their_caller),
		cmocka_unit_test(a_gap_stays_between_calls_that_touch),
		cmocka_unit_test(calls_end_from_the_inside_out),
		cmocka_unit_test(stacks_sum_over_threads),
		cmocka_unit_test(the_graph_counts_recursion_once),
		cmocka_unit_test(
			deep_stacks_count_for_the_deepest_that_is_kept),
		cmocka_unit_test(nothing_chosen_is_a_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
