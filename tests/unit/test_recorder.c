/* SPDX-License-Identifier: MIT
 *
 * Hook to saved tree in one process: the test is traced by the shim that it
 * links, and is its own reader.  In gdb's place it pokes the shim's control.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "cstrace/engine.h"
#include "cstrace/layout.h"

#define QUIET __attribute__((no_instrument_function))

/* The shim's own, not the copies that a program without -fPIC would get. */
static struct cst_control *control;
static uint32_t *state_word;

enum { THREADS = 8, CALLS = 20000 };

/* ---- what is traced ------------------------------------------------------ */

/* Rows for a slow terminal: more are left out. */
enum { MORE_THAN_WAIT = 20000 };

static int sum;

__attribute__((noinline)) static void leaf(int n)
{
	__atomic_fetch_add(&sum, n, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void branch(int n)
{
	leaf(n);
	leaf(n + 1);
}

/* A sanitizer's stack for handlers would be recorded in each chunk, and records
 * are counted here. */
const char *__asan_default_options(void), *__tsan_default_options(void);

QUIET const char *__asan_default_options(void)
{
	return "use_sigaltstack=0";
}

QUIET const char *__tsan_default_options(void)
{
	return __asan_default_options();
}

static void *busy(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		leaf(i);
	return arg;
}

static void *patient(void *barrier)
{
	leaf(1);
	pthread_barrier_wait(barrier);
	leaf(2);
	return NULL;
}

/* ---- in gdb's place ------------------------------------------------------ */

QUIET static void poke(struct cst_recorder *r, enum cst_mode mode)
{
	snprintf(control->area_path, sizeof(control->area_path), "%s",
		 cst_recorder_area_path(r));
	control->mode = mode;
	__atomic_store_n(state_word, CST_STATE_ASK, __ATOMIC_SEQ_CST);
}

QUIET static void drain(struct cst_recorder *r)
{
	struct cst_question q[64];
	int done, n;

	do {
		done = cst_recorder_drain(r);
		while ((n = cst_recorder_questions(r, q, 64)) > 0) {
			for (int i = 0; i < n; i++)
				cst_recorder_answer(
					r, q[i].id, NULL, "a.c",
					q[i].kind == CST_ASK_LINE ? 7 : 0);
		}
	} while (done == 0);
	assert_int_equal(done, 1);
}

struct text {
	char *all;
	uint64_t size;
};

QUIET static int collect(void *arg, const char *text, uint64_t size)
{
	struct text *t = arg;

	if (!size)
		return 0;
	t->all = realloc(t->all, t->size + size + 1);
	memcpy(t->all + t->size, text, size);
	t->size += size;
	t->all[t->size] = 0;
	return 0;
}

/* The recorder's lock is taken while it writes rows: a test may keep it there.
 */
static struct {
	int is_wanted;
	pthread_barrier_t taken, done;
} lock;

QUIET static void on_text(void *arg, const char *text, uint64_t size)
{
	collect(arg, text, size);
	if (__atomic_exchange_n(&lock.is_wanted, 0, __ATOMIC_SEQ_CST)) {
		pthread_barrier_wait(&lock.taken);
		pthread_barrier_wait(&lock.done);
	}
}

/* One area serves the whole process: the shim keeps the first it maps. */
static struct cst_recorder *recorder;
static struct text live;
static const struct cst_look plain = {0};
static const struct cst_choice all = {.std = 1};

QUIET static struct cst_recorder_options options(void)
{
	return (struct cst_recorder_options){
		.spool_dir = "/tmp",
		.pool_chunks = 2, /* fewer than threads: it must grow */
		.mode = CST_MODE_RING,
		.command = "test",
	};
}

QUIET static int setup_all(void **state)
{
	struct cst_callbacks callbacks = {.text = on_text, .arg = &live};
	struct cst_recorder_options o = options();
	struct cst_trace *trace;

	(void)state;
	control = dlsym(RTLD_DEFAULT, "cstrace_control");
	state_word = dlsym(RTLD_DEFAULT, "cstrace_state");
	if (!control || !state_word ||
	    cst_recorder_open(&o, &callbacks, &recorder, NULL) < 0 ||
	    cst_recorder_process(recorder, (uint32_t)getpid(), 0, NULL) < 0 ||
	    cst_recorder_end(recorder, &trace, NULL) < 0)
		return -1;
	cst_trace_free(trace);
	return 0;
}

QUIET static int teardown_all(void **state)
{
	(void)state;
	cst_recorder_close(recorder);
	free(live.all);
	return 0;
}

QUIET static void start(const struct cst_choice *choice, int is_live)
{
	struct cst_recorder_options o = options();

	assert_int_equal(cst_recorder_begin(recorder, &o, NULL), 0);
	free(live.all);
	live = (struct text){0};
	assert_int_equal(cst_recorder_live(recorder, is_live, CST_SINK_CALLBACK,
					   -1, &plain, choice, NULL),
			 0);
	poke(recorder, CST_MODE_RING);
}

/* Gives the call that this thread has left last its colour. */
QUIET static void mark_ended(enum cst_color color)
{
	while (!cst_recorder_mark(recorder, 0, (uint32_t)gettid(), 1, color,
				  NULL))
		drain(recorder);
}

QUIET static struct cst_trace *stop(void)
{
	struct cst_trace *trace;

	poke(recorder, CST_MODE_OFF);
	drain(recorder);
	assert_int_equal(cst_recorder_end(recorder, &trace, NULL), 0);
	return trace;
}

QUIET static struct text show(struct cst_trace *trace)
{
	struct cst_error err = {""};
	struct text t = {0};
	int64_t n = cst_trace_show(trace, &plain, &all, collect, &t, &err);

	if (n < 0)
		fail_msg("%s", err.text);
	return t;
}

/* ---- tests ----------------------------------------------------------------
 */

QUIET static void tree_is_kept(void **state)
{
	struct cst_trace *trace;
	struct text t;

	(void)state;
	start(&all, 0);
	branch(1);
	leaf(2);
	trace = stop();
	t = show(trace);
	assert_non_null(strstr(t.all, "branch\n  leaf\n  leaf\nleaf\n"));
	free(t.all);
	cst_trace_free(trace);
}

QUIET static void live_rows_wait_for_names(void **state)
{
	(void)state;
	start(&all, 1);
	branch(1);
	drain(recorder);
	assert_non_null(live.all);
	assert_non_null(strstr(live.all, "branch\n  leaf\n  leaf\n"));
	cst_trace_free(stop());
}

/* A trigger learns at a call's end that the call gets a colour: its row may be
 * on the screen by then. */
QUIET static void a_row_of_its_end_has_a_late_colour(void **state)
{
	const struct cst_look colored = {.color = 1};
	const char *row = "<- \033[1;36mbranch", *again = "\033[1;31mbranch";

	(void)state;
	start(&all, 1);
	assert_int_equal(cst_recorder_live(recorder, 1, CST_SINK_CALLBACK, -1,
					   &colored, &all, NULL),
			 0);
	/* One call site: it is named once. */
	for (volatile int i = 0; i < 2; i++) {
		branch(1);
		if (i == 0)
			drain(recorder);
		mark_ended(i ? CST_COLOR_RED : CST_COLOR_CYAN);
	}
	drain(recorder);
	assert_non_null(strstr(live.all, row));
	assert_non_null(strstr(live.all, again));
	assert_null(strstr(strstr(live.all, row) + 1, "<-"));
	cst_trace_free(stop());
}

/* The program was stopped while it waited for room: that is made, but the
 * reason of the stop stays the last thing on the screen. */
QUIET static void no_row_comes_behind_the_prompt(void **state)
{
	struct cst_trace *trace;
	pthread_t thread;
	uint64_t size;

	(void)state;
	start(&all, 1);
	assert_int_equal(pthread_create(&thread, NULL, busy, NULL), 0);
	while (pthread_tryjoin_np(thread, NULL))
		drain(recorder);
	drain(recorder);
	cst_recorder_pause(recorder);
	size = live.size;
	assert_int_equal(pthread_create(&thread, NULL, busy, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(live.size, size);
	cst_recorder_resume(recorder);
	drain(recorder);
	assert_true(live.size > size);
	trace = stop();
	cst_trace_free(trace);
}

QUIET static void *drain_in_thread(void *unused)
{
	drain(recorder);
	return unused;
}

static uint32_t pauser;

QUIET static void *pause_in_thread(void *unused)
{
	__atomic_store_n(&pauser, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
	cst_recorder_pause(recorder);
	return unused;
}

QUIET static void wait_until_it_waits(const uint32_t *tid)
{
	char path[64];
	long call = -1;

	for (int i = 0; i < 20000 && call != SYS_futex; i++) {
		FILE *f;

		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%u/syscall",
			 __atomic_load_n(tid, __ATOMIC_SEQ_CST));
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%ld", &call) != 1)
			call = -1; /* it runs */
		fclose(f);
	}
	assert_int_equal(call, SYS_futex);
}

QUIET static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

enum { HELD_NS = 200000000 };

/* A reader that has much to do keeps gdb's thread waiting: the program stands
 * still all the same, and that time is none of the trace's. */
QUIET static void a_pause_begins_when_it_is_asked_for(void **state)
{
	struct cst_status_report status;
	struct cst_trace *trace;
	pthread_t drainer, thread;
	uint64_t begin, since;

	(void)state;
	pthread_barrier_init(&lock.taken, NULL, 2);
	pthread_barrier_init(&lock.done, NULL, 2);
	pauser = 0;
	begin = now_ns();
	start(&all, 1);
	lock.is_wanted = 1;
	leaf(1);
	assert_int_equal(pthread_create(&drainer, NULL, drain_in_thread, NULL),
			 0);
	pthread_barrier_wait(&lock.taken);
	assert_int_equal(pthread_create(&thread, NULL, pause_in_thread, NULL),
			 0);
	wait_until_it_waits(&pauser);
	for (since = now_ns(); now_ns() < since + HELD_NS;)
		;
	pthread_barrier_wait(&lock.done);
	pthread_join(drainer, NULL);
	pthread_join(thread, NULL);
	cst_recorder_resume(recorder);
	trace = stop();
	cst_trace_status(trace, &status);
	assert_true(status.duration_ns < now_ns() - begin - HELD_NS / 2);
	cst_trace_free(trace);
	pthread_barrier_destroy(&lock.taken);
	pthread_barrier_destroy(&lock.done);
}

/* The newest calls may stand in a chunk that is not full yet, with no full one
 * before it. */
QUIET static void a_stop_in_a_flood_of_rows_has_the_newest(void **state)
{
	(void)state;
	start(&all, 1);
	leaf(1);
	drain(recorder);
	cst_recorder_pause(recorder);
	for (int i = 0; i < MORE_THAN_WAIT; i++)
		leaf(i);
	drain(recorder);
	assert_null(strstr(live.all, "branch"));
	branch(1);
	drain(recorder);
	assert_non_null(strstr(live.all, "branch\n  leaf\n  leaf\n"));
	cst_recorder_resume(recorder);
	cst_trace_free(stop());
}

QUIET static void excluded_function_is_not_recorded(void **state)
{
	struct cst_choice choice = {.std = 1, .exclude = "^leaf$"};
	struct cst_status_report status;
	struct cst_trace *trace;
	struct text t;

	(void)state;
	start(&choice, 0);
	branch(1);
	trace = stop();
	t = show(trace);
	assert_non_null(strstr(t.all, "branch\n"));
	assert_null(strstr(t.all, "leaf"));
	cst_trace_status(trace, &status);
	assert_int_equal(status.n_calls, 1);
	free(t.all);
	cst_trace_free(trace);
	start(&all, 0); /* and is heard again */
	leaf(1);
	trace = stop();
	cst_trace_status(trace, &status);
	assert_int_equal(status.n_calls, 1);
	cst_trace_free(trace);
}

QUIET static void small_pool_loses_nothing(void **state)
{
	struct cst_status_report status;
	struct cst_trace *trace;
	pthread_t threads[THREADS];

	(void)state;
	start(&all, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, busy, NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	trace = stop();
	cst_trace_status(trace, &status);
	assert_int_equal(status.n_calls, THREADS * (CALLS + 1));
	assert_int_equal(status.n_records, 2 * THREADS * (CALLS + 1));
	assert_int_equal(status.n_open, 0);
	assert_int_equal(status.n_unwound, 0);
	assert_int_equal(status.n_orphans, 0);
	assert_int_equal(status.losses.n_full + status.losses.n_holes, 0);
	assert_int_equal(status.n_threads, THREADS);
	cst_trace_free(trace);
}

/* With a fixed pool those who wait for a chunk hold up those who own one. */
QUIET static void sleepers_with_chunks_do_not_block_the_others(void **state)
{
	enum { N = 200 };
	struct cst_status_report status;
	struct cst_trace *trace;
	pthread_barrier_t barrier;
	pthread_t threads[N];
	pthread_attr_t small;

	(void)state;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, N);
	start(&all, 0);
	for (int i = 0; i < N; i++)
		assert_int_equal(
			pthread_create(&threads[i], &small, patient, &barrier),
			0);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	trace = stop();
	cst_trace_status(trace, &status);
	assert_int_equal(status.n_calls, 3 * N);
	assert_int_equal(status.n_open, 0);
	cst_trace_free(trace);
	pthread_barrier_destroy(&barrier);
}

/* One call site, however often: not a jump. */
QUIET __attribute__((noinline)) static void call_leaf(void)
{
	leaf(1);
	__asm__ volatile("");
}

/* The handshake goes through two mappings of one memory, which ThreadSanitizer
 * takes for two memories; a lock it knows. */
QUIET static void see_the_other_thread(void)
{
#ifdef __SANITIZE_THREAD__
	struct cst_status_report status;

	cst_recorder_status(recorder, &status);
#endif
}

QUIET static void handshake_shows_each_call_before_it_goes_on(void **state)
{
	struct cst_recorder_options o = options();
	struct cst_trace *trace;

	(void)state;
	o.mode = CST_MODE_HANDSHAKE;
	start(&all, 0); /* names first: nobody answers while we wait */
	call_leaf();
	cst_trace_free(stop());
	assert_int_equal(cst_recorder_begin(recorder, &o, NULL), 0);
	free(live.all);
	live = (struct text){0};
	assert_int_equal(cst_recorder_live(recorder, 1, CST_SINK_CALLBACK, -1,
					   &plain, &all, NULL),
			 0);
	poke(recorder, CST_MODE_HANDSHAKE);
	call_leaf();
	see_the_other_thread();
	assert_true(live.size > 0);
	assert_non_null(live.all);
	assert_non_null(strstr(live.all, "leaf"));
	trace = stop();
	cst_trace_free(trace);
}

QUIET int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_is_kept),
		cmocka_unit_test(live_rows_wait_for_names),
		cmocka_unit_test(a_row_of_its_end_has_a_late_colour),
		cmocka_unit_test(no_row_comes_behind_the_prompt),
		cmocka_unit_test(excluded_function_is_not_recorded),
		cmocka_unit_test(small_pool_loses_nothing),
		cmocka_unit_test(sleepers_with_chunks_do_not_block_the_others),
		cmocka_unit_test(a_pause_begins_when_it_is_asked_for),
		cmocka_unit_test(a_stop_in_a_flood_of_rows_has_the_newest),
		cmocka_unit_test(handshake_shows_each_call_before_it_goes_on),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
