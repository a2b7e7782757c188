/* SPDX-License-Identifier: MIT
 *
 * The call stack's fast path: where a run of usual records ends, and that the
 * trace is the same whether a record took it or the general one.  A listener
 * is a reason to take the general one, so a test can ask for it.
 */
#include "calls/fast_path.h"
#include "calls/fork.h"
#include "trace_builder.h"
#include "formats/jsonl.h"

enum {
	N_FUNCTIONS = 6, /* from 1 */
	MUTED = 7,
	COPIED = 3,
	N_SITES = CST_FIRST_SITE + 8 * 8 * 2,
	SPARE = 40, /* read ahead, as in a chunk */
	TOP = 1 << 20,
	FRAME = 64,
	DEEPEST = 30,
	STEP = 10, /* ticks */
};

struct world {
	struct draft d;
	struct sites sites;
	struct callstack calls;
	struct pauses pauses;
	struct site all[N_SITES];
	struct site_place places[N_SITES];
	struct thread thread;
};

/* The sites of a function called by another; 0 is the system. */
static uint32_t number_of(enum cst_kind kind, uint32_t function,
			  uint32_t caller)
{
	return CST_FIRST_SITE + (function * 8 + caller) * 2 +
	       (kind == CST_EXIT);
}

static void world_sites(struct world *w)
{
	char name[8];

	for (uint32_t i = 0; i < CST_FIRST_SITE; i++)
		w->all[i].is_muted = 1;
	for (uint32_t f = 0; f < 8; f++) {
		for (uint32_t i = 0; i < 16; i++) {
			uint32_t number = CST_FIRST_SITE + f * 16 + i;

			snprintf(name, sizeof(name), "f%u", f);
			w->all[number] = (struct site){
				.function = f,
				.call_site = draft_site(&w->d, name, i / 2),
				.physical = f,
				.caller_physical = i / 2,
				.kind = i % 2 ? CST_EXIT : CST_ENTER,
				.is_muted = f == MUTED,
				.has_plan = f == COPIED,
			};
			w->places[number] = (struct site_place){
				.caller = i / 2 * 0x1000,
				.hook = f * 0x1000 + i % 2 * 16};
		}
	}
	w->sites = (struct sites){
		.all = w->all, .places = w->places, .n = N_SITES};
}

static void hears_nothing(void *arg, struct thread *t, struct stack *s,
			  struct open_call *o)
{
	(void)arg;
	(void)t;
	(void)s;
	(void)o;
}

static void heard_nothing(void *arg, struct thread *t, struct stack *s,
			  struct open_call *o, uint64_t end, enum call_end how)
{
	(void)end;
	(void)how;
	hears_nothing(arg, t, s, o);
}

static void world_begin(struct world *w, int is_careful)
{
	memset(w, 0, sizeof(*w));
	draft_begin(&w->d);
	world_sites(w);
	callstack_init(&w->calls, &w->sites, &w->pauses);
	w->calls.writer = w->d.w;
	if (is_careful)
		w->calls.listener = (struct call_listener){hears_nothing,
							   heard_nothing, NULL};
	w->thread.ordinal = 1;
	w->thread.own = w->thread.current = stack_add(&w->calls, &w->thread, 0);
}

/* A sum over all that can be seen of the trace. */
static int digest_write(void *arg, const char *text, uint64_t size)
{
	uint64_t *sum = arg;

	for (uint64_t i = 0; i < size; i++)
		*sum = (*sum ^ (unsigned char)text[i]) * 1099511628211u;
	return 0;
}

static uint64_t world_end(struct world *w, int64_t *n_lines)
{
	const struct cst_choice choice = {.std = 1};
	uint64_t sum = 14695981039346656037u;
	struct cst_error err;
	struct cst_trace *t;

	sum ^= w->calls.n_calls + w->calls.n_unwound * 7919 +
	       w->calls.n_orphans * 104729 + w->calls.n_dropped * 1299709;
	t = draft_trace(&w->d, 1ull << 40);
	*n_lines = jsonl_write(t, &choice, digest_write, &sum, &err);
	cst_trace_free(t);
	callstack_release(&w->calls);
	fork_release(&w->thread);
	pauses_release(&w->pauses);
	return sum;
}

/* ---- records ------------------------------------------------------------- */

struct tape {
	struct cst_record *all;
	uint32_t n;
	uint64_t time;
	uint32_t stack[DEEPEST + 1]; /* of functions; [0] is the system */
	uint32_t depth;
};

static struct tape tape_new(uint32_t cap)
{
	struct tape t = {.time = DRAFT_START,
			 .all = calloc(cap + SPARE, sizeof(*t.all))};

	assert_non_null(t.all);
	return t;
}

static void tape_put(struct tape *t, uint32_t site, uint64_t cfa)
{
	t->time += STEP;
	cst_record_set(&t->all[t->n++], t->time, site, cfa, 0);
}

static void tape_enter(struct tape *t, uint32_t function)
{
	uint32_t caller = t->stack[t->depth];

	t->stack[++t->depth] = function;
	tape_put(t, number_of(CST_ENTER, function, caller),
		 TOP - t->depth * FRAME);
}

static void tape_leave(struct tape *t)
{
	uint32_t function = t->stack[t->depth];

	tape_put(t, number_of(CST_EXIT, function, t->stack[t->depth - 1]),
		 TOP - t->depth * FRAME);
	t->depth--;
}

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Called from an outer frame that a jump went back to, with a frame below those
 * that it left. */
static void tape_jump_and_call(struct tape *t)
{
	uint64_t cfa = TOP - (DEEPEST + 5) * FRAME;

	t->depth -= t->depth > 1 ? dice(t->depth) : 0;
	tape_put(t, number_of(CST_ENTER, 2, t->stack[t->depth]), cfa);
	tape_put(t, number_of(CST_EXIT, 2, t->stack[t->depth]), cfa);
}

static void tape_put_alternate(struct tape *t)
{
	t->time += STEP;
	cst_record_set(&t->all[t->n++], t->time, CST_ALTERNATE,
		       TOP - dice(DEEPEST) * FRAME, dice(DEEPEST) * FRAME);
}

static void tape_put_passed(struct tape *t)
{
	t->time += STEP;
	cst_record_set(&t->all[t->n++], t->time, CST_PASSED, TOP, 1 + dice(9));
}

/* Calls in the main, with all that is not plain between them. */
static void tape_put_any(struct tape *t)
{
	uint32_t what = dice(40);

	if (what == 0) /* longjmp */
		t->depth -= t->depth > 1 ? dice(t->depth) : 0;
	else if (what == 1)
		tape_put(t, number_of(CST_ENTER, MUTED, 1), 0);
	else if (what == 2)
		tape_put(t, CST_FORK, 1 + dice(3));
	else if (what == 3) /* an exit of nothing */
		tape_put(t, number_of(CST_EXIT, 6, 6), TOP + 4096);
	else if (what == 4 && t->n) /* taken before the one before it */
		t->time -= STEP + dice(STEP);
	else if (what == 6)
		tape_put_alternate(t);
	else if (what == 5)
		tape_jump_and_call(t);
	else if (what == 7)
		tape_put_passed(t);
	else if (t->depth == DEEPEST || (t->depth && dice(2)))
		tape_leave(t);
	else
		tape_enter(t, 1 + dice(N_FUNCTIONS));
}

/* Gives the tape out in pieces; some are cut at a site not known for now. */
static void world_take(struct world *w, const struct tape *t, uint32_t piece)
{
	uint32_t at = 0;

	while (at < t->n) {
		uint32_t n = piece ? 1 + dice(piece) : t->n;
		uint32_t known = piece && dice(4) == 0
					 ? CST_FIRST_SITE + dice(N_SITES)
					 : N_SITES;

		n = n < t->n - at ? n : t->n - at;
		at += callstack_take(&w->calls, &w->thread, &t->all[at], n,
				     known);
	}
}

/* What is to be kept of the calls; 0: all. */
struct limits {
	uint32_t depth;
	uint64_t ticks;
};

static uint64_t digest(const struct tape *t, struct limits keep, int is_careful,
		       uint32_t piece, int64_t *n_lines)
{
	static struct world w;

	world_begin(&w, is_careful);
	callstack_keep(&w.calls, keep.depth, keep.ticks);
	pauses_insert(&w.pauses, DRAFT_START + 4000, DRAFT_START + 4500);
	pauses_insert(&w.pauses, DRAFT_START + 9005, DRAFT_START + 9205);
	world_take(&w, t, piece);
	return world_end(&w, n_lines);
}

/* Returns how many calls there were to compare. */
static int64_t compare_paths(struct limits keep)
{
	int64_t n_lines = 0, n_careful = 0, n_all = 0;

	for (uint64_t round = 1; round <= 50; round++) {
		struct tape t = tape_new(3000);
		uint64_t careful;

		seed = round;
		while (t.n < 2998)
			tape_put_any(&t);
		careful = digest(&t, keep, 1, 0, &n_careful);
		for (uint32_t piece = 0; piece <= 200; piece = piece * 9 + 2) {
			assert_int_equal(digest(&t, keep, 0, piece, &n_lines),
					 careful);
			assert_int_equal(n_lines, n_careful);
		}
		n_all += n_lines;
		free(t.all);
	}
	return n_all;
}

static void both_paths_lead_to_the_same_trace(void **state)
{
	(void)state;
	assert_true(compare_paths((struct limits){0, 0}) > 50 * 1000);
}

static void both_paths_keep_the_same_calls(void **state)
{
	(void)state;
	assert_true(compare_paths((struct limits){0, 5 * STEP}) > 50 * 100);
	assert_true(compare_paths((struct limits){4, 0}) > 50 * 20);
	assert_true(compare_paths((struct limits){6, 3 * STEP}) > 50 * 10);
}

/* ---- borders ------------------------------------------------------------- */

static struct world w;

/* In f1, whose entry no run can begin with. */
static struct tape inside(uint32_t cap)
{
	struct tape t = tape_new(cap);

	world_begin(&w, 0);
	tape_enter(&t, 1);
	assert_int_equal(fast_path_take(&w.calls, &w.thread, t.all, 1, N_SITES),
			 0);
	assert_int_equal(callstack_take(&w.calls, &w.thread, t.all, 1, N_SITES),
			 1);
	t.n = 0;
	return t;
}

static void leaf(struct tape *t)
{
	tape_enter(t, 2);
	tape_leave(t);
}

static uint32_t taken(const struct tape *t, uint32_t n_known)
{
	return fast_path_take(&w.calls, &w.thread, t->all, t->n, n_known);
}

static void done(struct tape *t)
{
	int64_t n;

	world_end(&w, &n);
	free(t->all);
}

static void a_run_ends_at_a_muted_site(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	tape_put(&t, number_of(CST_ENTER, MUTED, 1), 0);
	leaf(&t);
	assert_int_equal(taken(&t, N_SITES), 2);
	done(&t);
}

static void a_run_ends_at_a_number_not_known_yet(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	tape_enter(&t, 3);
	assert_int_equal(taken(&t, number_of(CST_ENTER, 3, 1)), 2);
	t.all += 2;
	t.n -= 2;
	assert_int_equal(taken(&t, number_of(CST_ENTER, 3, 1) + 1), 1);
	t.all -= 2;
	done(&t);
}

static void a_run_ends_at_a_slot_not_written_yet(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	leaf(&t);
	t.all[3].time = 0;
	assert_int_equal(taken(&t, N_SITES), 3);
	done(&t);
}

static void a_run_ends_at_a_time_below_the_last(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	t.time -= 3 * STEP;
	leaf(&t);
	assert_int_equal(taken(&t, N_SITES), 2);
	done(&t);
}

static void a_run_ends_at_the_stacks_last_exit(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	tape_leave(&t);
	tape_enter(&t, 1);
	assert_int_equal(taken(&t, N_SITES), 3);
	assert_int_equal(w.thread.own->n, 0);
	done(&t);
}

static void a_run_ends_at_a_full_block(void **state)
{
	struct tape t = inside(2 * CALLS_PER_BLOCK + 100);
	uint32_t n = 2 * (CALLS_PER_BLOCK - 1 - 5);
	int64_t n_lines;

	(void)state;
	for (int i = 0; i < CALLS_PER_BLOCK + 10; i++)
		leaf(&t);
	/* The block, which grows to that, has f1 as well. */
	assert_int_equal(callstack_take(&w.calls, &w.thread, t.all, n, N_SITES),
			 n);
	t.all += n;
	t.n -= n;
	assert_int_equal(taken(&t, N_SITES), 2 * 5);
	assert_int_equal(callstack_take(&w.calls, &w.thread, t.all + 10,
					t.n - 10, N_SITES),
			 t.n - 10);
	world_end(&w, &n_lines);
	assert_int_equal(n_lines, CALLS_PER_BLOCK + 11);
	t.all -= n;
	free(t.all);
}

static void no_run_within_a_pause_or_before_one(void **state)
{
	struct tape t = inside(10);

	(void)state;
	leaf(&t);
	leaf(&t);
	pauses_begin(&w.pauses, t.all[1].time + 1);
	assert_int_equal(taken(&t, N_SITES), 0);
	pauses_end(&w.pauses, t.all[1].time + 5);
	assert_int_equal(taken(&t, N_SITES), 0); /* begins before it */
	assert_int_equal(callstack_take(&w.calls, &w.thread, t.all, 2, N_SITES),
			 2);
	t.all += 2;
	t.n -= 2;
	assert_int_equal(taken(&t, N_SITES), 2);
	t.all -= 2;
	done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_paths_lead_to_the_same_trace),
		cmocka_unit_test(both_paths_keep_the_same_calls),
		cmocka_unit_test(a_run_ends_at_a_muted_site),
		cmocka_unit_test(a_run_ends_at_a_number_not_known_yet),
		cmocka_unit_test(a_run_ends_at_a_slot_not_written_yet),
		cmocka_unit_test(a_run_ends_at_a_time_below_the_last),
		cmocka_unit_test(a_run_ends_at_the_stacks_last_exit),
		cmocka_unit_test(a_run_ends_at_a_full_block),
		cmocka_unit_test(no_run_within_a_pause_or_before_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
