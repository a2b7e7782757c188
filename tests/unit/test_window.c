/* SPDX-License-Identifier: MIT
 *
 * A part of a trace is the same whether one goes through all that lies before
 * it or begins in its middle.
 */
#include "trace_builder.h"

#include "trace/loader.h"
#include "trace/window.h"

enum { N_LANES = 3, N_STEPS = 150000, MOST_DEEP = 60, AROUND = 10 };

/* A lane whose calls come and go as the dice fall. */
struct actor {
	struct lane *lane;
	uint64_t open[MOST_DEEP];
	uint32_t n_open;
};

static uint64_t numbers[2]; /* of the threads' last calls */

static uint32_t dice(uint32_t n)
{
	static uint64_t seed = 7;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void actor_step(struct actor *a, uint32_t thread, uint64_t tick)
{
	struct lane_entry e = {.start = tick, .thread = thread};

	/* Mostly near the leaves, now and then all the way up. */
	if (a->n_open == MOST_DEEP || (a->n_open && dice(100) < 48)) {
		uint32_t n = dice(2000) ? 1 : a->n_open;

		for (; n; n--)
			lane_exit(a->lane, a->open[--a->n_open], tick,
				  dice(50) ? CALL_RETURN : CALL_UNWOUND);
		return;
	}
	e.number = ++numbers[thread];
	e.above = a->n_open ? a->open[a->n_open - 1] : NO_SEQ;
	if (!lane_is_plain(a->lane, e.number, thread))
		assert_int_equal(lane_prepare(a->lane, &e), 0);
	a->open[a->n_open++] = lane_enter(a->lane, tick, dice(8));
}

/* Lanes 0 and 1 are the two threads' own, lane 2 is used by both. */
static struct cst_trace *make_trace(void)
{
	struct actor actors[N_LANES] = {0};
	struct draft d;
	uint64_t seed;

	draft_begin(&d);
	numbers[0] = numbers[1] = 0;
	for (uint32_t i = 0; i < 8; i++)
		draft_site(&d, (const char[]){(char)('a' + i), 0}, i);
	writer_thread(d.w, 1, 100, 2, 101, "two");
	actors[0].lane = d.lane;
	actors[1].lane = writer_lane(d.w, 1, 1, 0);
	actors[2].lane = writer_lane(d.w, 1, 1, 1);
	for (uint64_t i = 1; i <= 3; i++) {
		seed = draft_put(d.lane, (struct draft_call){.start = 1000,
							     .number = i,
							     .is_seed = 1});
		actors[0].open[actors[0].n_open++] = seed;
	}
	for (uint64_t i = 0; i < N_STEPS; i++) {
		uint32_t lane = dice(N_LANES);
		uint32_t thread = lane < 2 ? lane : dice(40) == 0;

		/* Steps of 0 as well: ties between the lanes. */
		actor_step(&actors[lane], thread, 1000 + i / 2 * 10);
		if (dice(N_STEPS / 30) == 0)
			writer_flush(d.w, NULL);
	}
	return draft_trace(&d, N_STEPS * 10ull);
}

struct list {
	struct shown *calls;
	size_t n;
	struct shown *callers; /* passed before the first of a lane */
	size_t n_callers;
};

static void list_add(struct shown **calls, size_t *n, const struct shown *s)
{
	if (!(*n & (*n - 1)))
		*calls = realloc(*calls, (*n ? *n * 2 : 1) * sizeof(*s));
	(*calls)[(*n)++] = *s;
}

static void list_release(struct list *l)
{
	free(l->calls);
	free(l->callers);
	*l = (struct list){0};
}

/* What is shown of the choice. */
static struct list list_window(struct cst_trace *t,
			       const struct cst_choice *choice)
{
	struct list list = {0};
	struct window w;
	struct view *v;
	struct cst_error err = {""};
	struct shown *call;
	int got;

	if (window_init(&w, t, choice, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(view_new_part(t, choice, &w.part, 0, &v, &err), 0);
	while ((got = view_next(v, &call, &err)) > 0) {
		const struct shown *callers = NULL;
		uint32_t n_callers = 0;

		if (!window_is_all(&w) &&
		    !window_take(&w, call, &callers, &n_callers))
			continue;
		for (uint32_t k = 0; k < n_callers; k++)
			list_add(&list.callers, &list.n_callers, &callers[k]);
		list_add(&list.calls, &list.n, call);
	}
	assert_int_equal(got, 0);
	assert_string_equal(err.text, "");
	view_free(v);
	window_release(&w);
	return list;
}

static void check_call(const struct shown *a, const struct shown *b)
{
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->is_seed, b->is_seed);
	assert_int_equal(a->lane, b->lane);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->site, b->site);
	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->parent_number, b->parent_number);
}

/* Each of the callers is in the full list as well, and in it the last one of
 * its depth before the first call of the lane that is shown. */
static void check_callers(const struct list *all, const struct list *part,
			  size_t from)
{
	for (size_t i = 0; i < part->n_callers; i++) {
		const struct shown *c = &part->callers[i];
		size_t k = from;

		if (!c->number)
			continue;
		while (all->calls[k].lane != c->lane)
			k++;
		while (k-- && (all->calls[k].lane != c->lane ||
			       all->calls[k].depth != c->depth))
			;
		check_call(c, &all->calls[k]);
	}
}

static void check_last(struct cst_trace *t, struct cst_choice choice)
{
	static const uint64_t counts[] = {1, 2, 100, 30000, 60000, 10000000};
	struct list all = list_window(t, &choice);

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct list part;
		size_t n = counts[i] < all.n ? counts[i] : all.n;

		choice.last = counts[i];
		part = list_window(t, &choice);
		assert_int_equal(part.n, n);
		for (size_t k = 0; k < n; k++)
			check_call(&part.calls[k], &all.calls[all.n - n + k]);
		if (!choice.thread)
			check_callers(&all, &part, all.n - n);
		list_release(&part);
	}
	list_release(&all);
}

static void the_last_calls_are_those_of_the_whole(void **state)
{
	struct cst_trace *t = make_trace();

	(void)state;
	assert_true(t->n_blocks > 20);
	check_last(t, (struct cst_choice){0});
	check_last(t, (struct cst_choice){.thread = 2});
	check_last(t, (struct cst_choice){.depth = 4});
	check_last(t, (struct cst_choice){.min_ns = 5000});
	check_last(t, (struct cst_choice){.filter = "b", .exclude = "c"});
	cst_trace_free(t);
}

static void check_around(struct cst_trace *t, struct cst_choice choice,
			 const struct list *all, size_t at)
{
	const struct shown *call = &all->calls[at];
	struct list part;
	size_t first = at, n = 0, k = 0;
	char id[40];

	snprintf(id, sizeof(id), "%u.%s%llu", call->thread + 1,
		 call->is_seed ? "s" : "", (unsigned long long)call->number);
	choice.around = id;
	part = list_window(t, &choice);
	for (size_t i = at; i-- > 0 && n < AROUND;)
		if (all->calls[i].thread == call->thread) {
			first = i;
			n++;
		}
	n += 1 + AROUND;
	for (size_t i = first; i < all->n && k < n; i++)
		if (all->calls[i].thread == call->thread) {
			assert_true(k < part.n);
			check_call(&part.calls[k++], &all->calls[i]);
		}
	assert_int_equal(k, part.n);
	list_release(&part);
}

static void what_is_around_a_call_is_that_of_the_whole(void **state)
{
	static const struct cst_choice choices[] = {
		{0},
		{.depth = 5},
		{.min_ns = 3000},
		{.exclude = "[a-f]"},
	};
	struct cst_trace *t = make_trace();

	(void)state;
	for (size_t c = 0; c < sizeof(choices) / sizeof(*choices); c++) {
		struct list all = list_window(t, &choices[c]);

		check_around(t, choices[c], &all, 0);
		check_around(t, choices[c], &all, 1);
		check_around(t, choices[c], &all, all.n - 1);
		for (int i = 0; i < 60; i++)
			check_around(t, choices[c], &all,
				     dice((uint32_t)all.n));
		list_release(&all);
	}
	cst_trace_free(t);
}

static void check_refused(struct cst_trace *t, struct cst_choice choice,
			  const char *text)
{
	struct cst_error err = {""};
	struct window w;

	assert_int_equal(window_init(&w, t, &choice, &err), CST_BAD_INPUT);
	assert_string_equal(err.text, text);
	window_release(&w);
}

static void calls_that_are_not_there_are_told(void **state)
{
	struct cst_trace *t = make_trace();
	char text[100];

	(void)state;
	snprintf(text, sizeof(text),
		 "no call 1.90000000: thread 1 made %llu "
		 "calls",
		 (unsigned long long)numbers[0]);
	check_refused(t, (struct cst_choice){.around = "1.90000000"}, text);
	snprintf(text, sizeof(text), "no call 2.s1: thread 2 made %llu calls",
		 (unsigned long long)numbers[1]);
	check_refused(t, (struct cst_choice){.around = "2.s1"}, text);
	check_refused(t, (struct cst_choice){.around = "3.1"},
		      "no thread 3 in this trace");
	check_refused(
		t, (struct cst_choice){.around = "1.20000", .exclude = "[a-h]"},
		"call 1.20000 is hidden by the filters");
	cst_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_calls_are_those_of_the_whole),
		cmocka_unit_test(what_is_around_a_call_is_that_of_the_whole),
		cmocka_unit_test(calls_that_are_not_there_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
