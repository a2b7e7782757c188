/* SPDX-License-Identifier: MIT
 *
 * What the writer took is what a walk gives back, whatever came in between.
 */
#include "trace_builder.h"
#include "trace/view.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MODEL_LANES = 5, MODEL_CALLS = 30000 };

/* What was put in, by lane and seq. */
struct model_call {
	struct draft_call call;
	uint64_t duration;
	uint32_t depth;
	enum call_end end;
};

struct model_lane {
	struct lane *lane;
	struct model_call *calls;
	uint32_t n;
	uint32_t open[64], n_open;
};

struct model {
	struct draft d;
	struct model_lane lanes[MODEL_LANES];
	uint64_t tick, seed;
	uint64_t numbers[2]; /* two threads */
};

static uint32_t draw(struct model *m, uint32_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->seed >> 33) % below;
}

static void model_begin(struct model *m, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	draft_begin(&m->d);
	m->seed = seed;
	m->tick = DRAFT_START;
	assert_int_equal(writer_thread(m->d.w, 1, 100, 2, 101, "two"), 1);
	for (uint32_t i = 0; i < 300; i++)
		draft_site(&m->d, i % 3 ? "f" : "g", i + 1);
	for (uint32_t i = 0; i < MODEL_LANES; i++) {
		m->lanes[i].lane =
			i ? writer_lane(m->d.w, 1, i & 1, i) : m->d.lane;
		m->lanes[i].calls =
			calloc(MODEL_CALLS, sizeof(struct model_call));
	}
}

static void model_enter(struct model *m, struct model_lane *l, uint32_t thread)
{
	struct draft_call call = {.start = m->tick,
				  .site = draw(m, 300),
				  .number = ++m->numbers[thread],
				  .thread = thread};

	if (l->n == MODEL_CALLS || l->n_open == 64)
		return;
	l->calls[l->n] = (struct model_call){.call = call, .depth = l->n_open};
	l->open[l->n_open++] = l->n;
	assert_int_equal(draft_put(l->lane, call), l->n++);
}

static void model_exit(struct model *m, struct model_lane *l)
{
	enum call_end end = draw(m, 20)	 ? CALL_RETURN
			    : draw(m, 3) ? CALL_UNWOUND
					 : CALL_ESTIMATED;
	uint32_t seq;

	if (!l->n_open)
		return;
	seq = l->open[--l->n_open];
	l->calls[seq].end = end;
	l->calls[seq].duration = m->tick - l->calls[seq].call.start;
	lane_exit(l->lane, seq, m->tick, end);
}

static void model_step(struct model *m)
{
	/* Long stretches on one lane, and steps of all sizes. */
	uint32_t lane = (uint32_t)(m->numbers[0] / 3000 + draw(m, 50) / 49) %
			MODEL_LANES;
	/* The last lane is a coroutine that changes threads. */
	uint32_t thread = lane == MODEL_LANES - 1 ? draw(m, 2) : lane & 1;

	m->tick += draw(m, 100) ? draw(m, 100) : draw(m, 1u << 30);
	if (draw(m, 100) < 51)
		model_enter(m, &m->lanes[lane], thread);
	else
		model_exit(m, &m->lanes[lane]);
}

static uint64_t duration_in(const struct model *m, const struct model_call *c)
{
	return c->end == CALL_OPEN ? m->tick - c->call.start : c->duration;
}

static void check_call(const struct model *m, const struct shown *s,
		       const struct model_call *c)
{
	assert_int_equal(s->start_ns, c->call.start - DRAFT_START);
	assert_int_equal(s->duration_ns, duration_in(m, c));
	assert_int_equal(s->site, c->call.site);
	assert_int_equal(s->depth, c->depth);
	assert_int_equal(s->number, c->call.number);
	assert_int_equal(s->thread, c->call.thread);
	assert_int_equal(s->end, c->end);
}

static void model_check(struct model *m, const struct cst_trace *t)
{
	const struct cst_choice all = {.std = 1};
	struct cst_error err = {""};
	uint32_t seen[MODEL_LANES] = {0};
	uint64_t before = 0;
	struct shown *call;
	struct view *v;
	int got;

	assert_int_equal(view_new(t, &all, 0, &v, &err), 0);
	while ((got = view_next(v, &call, &err)) > 0) {
		assert_true(call->start_ns >= before);
		before = call->start_ns;
		check_call(m, call,
			   &m->lanes[call->lane].calls[seen[call->lane]++]);
	}
	if (got < 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < MODEL_LANES; i++)
		assert_int_equal(seen[i], m->lanes[i].n);
	view_free(v);
}

static void model_end(struct model *m)
{
	for (uint32_t i = 0; i < MODEL_LANES; i++)
		free(m->lanes[i].calls);
}

static void a_walk_gives_what_the_writer_took(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct model m;
		struct cst_trace *t;

		model_begin(&m, seed);
		for (int i = 0; i < 150000; i++) {
			model_step(&m);
			if (draw(&m, 20000) == 0)
				writer_flush(m.d.w, NULL);
			if (draw(&m, 10000) == 0)
				writer_hurry(m.d.w, draw(&m, 3));
		}
		t = draft_trace(&m.d, m.tick - DRAFT_START);
		model_check(&m, t);
		cst_trace_free(t);
		model_end(&m);
	}
}

static void a_live_file_reads_up_to_its_flush(void **state)
{
	struct model m;

	(void)state;
	model_begin(&m, 9);
	for (int round = 0; round < 5; round++) {
		struct cst_trace *t;
		struct cst_error err = {""};

		for (int i = 0; i < 20000; i++)
			model_step(&m);
		writer_set_end(m.d.w, m.tick);
		assert_int_equal(writer_flush(m.d.w, &err), 0);
		if (trace_open(dup(writer_fd(m.d.w)), "the recorded trace", &t,
			       &err) < 0)
			fail_msg("%s", err.text);
		model_check(&m, t);
		cst_trace_free(t);
	}
	close(draft_fd(&m.d));
	model_end(&m);
}

/* What was left as it was for want of time is small in a saved file. */
static void a_saved_file_is_packed(void **state)
{
	char path[] = "/var/tmp/cstrace-test-XXXXXX";
	struct cst_choice all = {.std = 1};
	struct cst_error err = {""};
	struct cst_status_report before, after;
	struct cst_trace *t, *again = NULL;
	struct model m;

	(void)state;
	close(mkstemp(path));
	model_begin(&m, 5);
	writer_hurry(m.d.w, HASTE_NEED);
	for (int i = 0; i < 150000; i++)
		model_step(&m);
	t = draft_trace(&m.d, m.tick - DRAFT_START);
	model_check(&m, t);
	if (cst_trace_save(t, path, "cst", &draft_look, &all, &err) < 0 ||
	    cst_trace_load(path, &again, &err) < 0)
		fail_msg("%s", err.text);
	model_check(&m, again);
	cst_trace_status(t, &before);
	cst_trace_status(again, &after);
	assert_true(after.spool_bytes < before.spool_bytes * 9 / 10);
	cst_trace_free(t);
	cst_trace_free(again);
	unlink(path);
	model_end(&m);
}

static void many_short_threads_stay_small(void **state)
{
	struct draft d;
	struct cst_trace *t;
	struct cst_status_report status;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	for (uint32_t i = 1; i <= 20000; i++) {
		struct lane *l;

		writer_thread(d.w, 1, 100, i + 1, 100 + i, "short");
		l = writer_lane(d.w, 1, i, 0);
		draft_put(l, (struct draft_call){.start = DRAFT_START + i,
						 .number = 1,
						 .thread = i});
	}
	assert_true(writer_bytes(d.w) < 20000 * 200);
	t = draft_trace(&d, 30000);
	cst_trace_status(t, &status);
	assert_int_equal(status.n_calls, 20000);
	assert_int_equal(status.n_threads, 20001);
	assert_int_equal(status.n_open, 20000);
	cst_trace_free(t);
}

/* Each lane's block holds a call of the beginning and many of its own time:
 * no reader can keep them all unpacked from the first to the last. */
static void long_blocks_at_once_read_in_bounded_memory(void **state)
{
	enum { LANES = 120, CALLS = 30000 };
	const struct cst_choice all = {.std = 1};
	struct lane *lanes[LANES];
	struct cst_error err = {""};
	uint64_t n_seen = 0, before = 0;
	struct shown *call;
	struct cst_trace *t;
	struct draft d;
	struct view *v;
	size_t at_most = 0;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	for (uint32_t i = 0; i < LANES; i++) {
		lanes[i] = writer_lane(d.w, 1, 0, i + 1);
		draft_put(lanes[i],
			  (struct draft_call){.start = DRAFT_START + i,
					      .number = 1});
	}
	for (uint64_t i = 0; i < LANES * CALLS; i++) {
		uint64_t tick = DRAFT_START + LANES + i * 10, seq;

		seq = draft_put(lanes[i / CALLS],
				(struct draft_call){.start = tick,
						    .number = i % CALLS + 2});
		lane_exit(lanes[i / CALLS], seq, tick + 5, CALL_RETURN);
	}
	t = draft_trace(&d, LANES * CALLS * 10ull);
	assert_int_equal(view_new(t, &all, 0, &v, &err), 0);
	for (; view_next(v, &call, &err) > 0; n_seen++) {
		assert_true(call->start_ns >= before);
		before = call->start_ns;
		if (n_seen % 500 == 0) {
			size_t held = mallinfo2().uordblks + mallinfo2().hblkhd;

			at_most = held > at_most ? held : at_most;
		}
	}
	assert_int_equal(n_seen, LANES * (CALLS + 1));
	assert_true(at_most < 100 << 20);
	view_free(v);
	cst_trace_free(t);
}

static void the_limit_ends_the_keeping(void **state)
{
	struct draft d;
	struct cst_trace *t;
	struct cst_status_report status;
	uint32_t site;
	uint64_t outer, seq = 0;

	(void)state;
	draft_begin_limited(&d, 20000);
	site = draft_site(&d, "f", 1);
	outer = draft_enter(&d, site, 0);
	for (uint64_t i = 1; i < 500000; i++) {
		seq = draft_enter(&d, site, i * 977 % 31 + i * 1000);
		draft_exit(&d, seq, i * 977 % 31 + i * 1000 + i * 7919 % 601);
	}
	assert_true(writer_is_full(d.w, &d.err));
	assert_non_null(strstr(d.err.text, "limit"));
	assert_int_equal(seq, UINT64_MAX);
	assert_true(writer_dropped(d.w) > 0);
	draft_exit(&d, outer, 500000000);
	t = draft_trace(&d, 500000000);
	cst_trace_status(t, &status);
	assert_int_equal(status.n_calls + status.losses.n_limit, 500000);
	assert_int_equal(status.n_open, 0);
	assert_true(status.losses.is_limit_reached);
	assert_true(status.spool_bytes < 22000);
	cst_trace_free(t);
}

/* A limit of the system's is a disk that is full at that size. */
static void a_full_disk_keeps_the_blocks_that_fit(void **state)
{
	struct rlimit before, small = {.rlim_cur = 100000};
	struct cst_status_report status;
	struct cst_trace *t;
	struct draft d;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint64_t i = 0; i < 500000; i++)
		draft_exit(&d, draft_enter(&d, 0, i * 100),
			   i * 100 + (i * 2654435761u >> 9) % 97);
	writer_flush(d.w, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(writer_is_full(d.w, &d.err), 1);
	assert_non_null(strstr(d.err.text, "File too large"));
	assert_in_range(writer_bytes(d.w), 1000, 100000);
	t = draft_trace(&d, 500000 * 100);
	cst_trace_status(t, &status);
	assert_in_range(status.n_calls, 10000, 499999);
	cst_trace_free(t);
}

static void what_is_missing_is_read_back(void **state)
{
	const struct cst_losses losses = {.n_full = 1,
					  .n_sites = 2,
					  .n_threads = 3,
					  .n_holes = 4,
					  .n_limit = 5,
					  .n_past_begin = 6,
					  .n_past_all = 7,
					  .n_past_sealed = 8,
					  .n_past_exec = 9,
					  .past_exec = "/bin/ls",
					  .n_ended = 10,
					  .n_dropped = 11};
	struct cst_status_report found;
	struct cst_trace *t;
	struct draft d;

	(void)state;
	draft_begin(&d);
	draft_exit(&d, draft_enter(&d, draft_site(&d, "f", 1), 0), 10);
	writer_set_losses(d.w, &losses);
	t = draft_trace(&d, 10);
	cst_trace_status(t, &found);
	assert_int_equal(found.losses.n_full, 1);
	assert_int_equal(found.losses.n_sites, 2);
	assert_int_equal(found.losses.n_threads, 3);
	assert_int_equal(found.losses.n_holes, 4);
	assert_int_equal(found.losses.n_limit, 5);
	assert_int_equal(found.losses.n_past_begin, 6);
	assert_int_equal(found.losses.n_past_all, 7);
	assert_int_equal(found.losses.n_past_sealed, 8);
	assert_int_equal(found.losses.n_past_exec, 9);
	assert_string_equal(found.losses.past_exec, "/bin/ls");
	assert_int_equal(found.losses.n_ended, 10);
	assert_int_equal(found.losses.n_dropped, 11);
	cst_trace_free(t);
}

static uint64_t calls_within(uint64_t limit, enum haste haste)
{
	struct cst_status_report status;
	struct cst_trace *t;
	struct draft d;
	uint32_t site;

	draft_begin_limited(&d, limit);
	writer_hurry(d.w, haste);
	site = draft_site(&d, "f", 1);
	for (uint64_t i = 0; !writer_is_full(d.w, NULL); i++)
		draft_exit(&d, draft_enter(&d, site, i * 50),
			   i * 50 + 10 + i * 7919 % 8);
	t = draft_trace(&d, 1 << 30);
	cst_trace_status(t, &status);
	cst_trace_free(t);
	return status.n_calls;
}

/* ThreadSanitizer takes minutes for what is a second else; near so small a
 * limit the blocks get small, and care packs them less. */
#ifdef __SANITIZE_THREAD__
enum { HASTE_LIMIT = 1 << 18, LEAST_PERCENT = 35 };
#else
enum { HASTE_LIMIT = 1 << 21, LEAST_PERCENT = 45 };
#endif

static void haste_does_not_use_up_the_limit(void **state)
{
	(void)state;
	assert_true(calls_within(HASTE_LIMIT, 1) >
		    calls_within(HASTE_LIMIT, 0) * LEAST_PERCENT / 100);
}

/* /dev/full would not do: the file must be regular. */
static void a_named_file_replaces_only_files(void **state)
{
	struct names *names = names_new();
	struct writer_options options = {.path = "/dev/null", .ns_mult = 1};
	struct writer *w;
	struct cst_error err;

	(void)state;
	assert_int_equal(writer_open(&options, names, &w, &err), CST_FAILED);
	assert_string_equal(err.text,
			    "cannot write '/dev/null': not a regular file");
	options.path = "/var/tmp/no/such/folder/x.cst";
	assert_int_equal(writer_open(&options, names, &w, &err), CST_FAILED);
	assert_non_null(strstr(err.text, "No such file or directory"));
	names_free(names);
}

static void the_next_writer_writes_all_names_again(void **state)
{
	struct draft d;
	struct cst_trace *t;
	struct writer *second;
	struct writer_options options = {.dir = "/var/tmp", .ns_mult = 1};
	struct cst_error err;
	struct lane *l;
	int fd = -1;

	(void)state;
	draft_begin(&d);
	draft_site(&d, "f", 1);
	assert_int_equal(writer_flush(d.w, &err), 0);
	assert_int_equal(writer_open(&options, d.names, &second, &err), 0);
	writer_thread(second, 1, 1, 1, 1, "");
	l = writer_lane(second, 1, 0, 0);
	draft_put(l, (struct draft_call){.start = 1, .number = 1});
	assert_int_equal(writer_close(second, &fd, &err), 0);
	assert_int_equal(trace_open(fd, "the recorded trace", &t, &err), 0);
	assert_non_null(strstr(
		draft_rows(t, &draft_look, &(struct cst_choice){0}), "f"));
	cst_trace_free(t);
	close(draft_fd(&d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_gives_what_the_writer_took),
		cmocka_unit_test(a_live_file_reads_up_to_its_flush),
		cmocka_unit_test(a_saved_file_is_packed),
		cmocka_unit_test(many_short_threads_stay_small),
		cmocka_unit_test(long_blocks_at_once_read_in_bounded_memory),
		cmocka_unit_test(the_limit_ends_the_keeping),
		cmocka_unit_test(a_full_disk_keeps_the_blocks_that_fit),
		cmocka_unit_test(what_is_missing_is_read_back),
		cmocka_unit_test(haste_does_not_use_up_the_limit),
		cmocka_unit_test(a_named_file_replaces_only_files),
		cmocka_unit_test(the_next_writer_writes_all_names_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
