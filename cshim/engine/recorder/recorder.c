/* SPDX-License-Identifier: MIT
 *
 * The recorder: knows the order of the stages between the area and the trace
 * file.  One lock guards all of it: the reader thread locks it for each round,
 * gdb's thread for each call.  A round consumes nothing when names are wanted
 * first, so that the next round, on either thread, can do it again.
 */
#include "recorder/recorder.h"
#include "recorder/drain.h"
#include "recorder/one_trace.h"
#include "recorder/thread_ends.h"

#include "area/clock.h"
#include "base/io_count.h"
#include "base/task_file.h"
#include "base/worker.h"
#include "sites/ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	TICK_MS = 20,
	AHEAD_MS = 2000,   /* while the program stands still */
	LOOK_NS = 1000000, /* while the names of some sites are asked for */
	BUSY_US = 1000,
	/* A round that took so many leaves no time to rest. */
	BEHIND_RECORDS = 32 * CST_CHUNK_RECORDS,
	FIRST_CHUNKS = 64,
	USUAL_WAIT_MS = 10000,
	RECLAIM_TICKS = 10,
	QUIET_TICKS = 2,
	MAX_ROUNDS = 64,
};

static void recorder_lock(struct cst_recorder *r)
{
	pthread_mutex_lock(&r->lock);
}

static void recorder_unlock(struct cst_recorder *r)
{
	pthread_mutex_unlock(&r->lock);
}

/* ---- the reader thread --------------------------------------------------- */

/* Where nothing waits for names they are left for a quiet moment, or for the
 * next stop: gdb's thread would take a processor from the program. */
static void recorder_want_names(struct cst_recorder *r, int is_urgent)
{
	if (!questions_n_waiting(&r->sites.questions) || r->is_asking ||
	    (!is_urgent && r->n_quiet < QUIET_TICKS) ||
	    outlet_is_busy(&r->live.rows.screen.outlet))
		return;
	r->is_asking = 1;
	/* The callback may wait for gdb's thread, which may wait for us. */
	recorder_unlock(r);
	if (r->callbacks.wanted)
		r->callbacks.wanted(r->callbacks.arg);
	recorder_lock(r);
}

static void recorder_tell(struct cst_recorder *r, const struct cst_error *err)
{
	recorder_unlock(r);
	if (r->callbacks.message)
		r->callbacks.message(r->callbacks.arg, err->text);
	recorder_lock(r);
}

void recorder_tell_full(struct cst_recorder *r)
{
	struct cst_error err;

	if (r->is_full || !r->writer || !writer_is_full(r->writer, &err))
		return;
	r->is_full = 1;
	recorder_tell(r, &err);
}

/* Under the lock; once for a file, and for where rows go. */
static void recorder_tell_troubles(struct cst_recorder *r)
{
	struct cst_error err;

	if (r->changed[0]) {
		cst_fail(CST_BAD_FILE, &err,
			 "'%s' was changed since it was loaded: nothing is "
			 "read of it",
			 r->changed);
		r->changed[0] = 0;
		recorder_tell(r, &err);
	}
	if (r->live.rows.screen.outlet.failed_errno && !r->has_reported_rows) {
		r->has_reported_rows = 1;
		errno = r->live.rows.screen.outlet.failed_errno;
		cst_fail_sys(&err, "live rows cannot be written");
		recorder_tell(r, &err);
	}
}

static void wait_for_names(struct cst_recorder *r)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	/* Hooks that wait for a look at their sites do not wait for gdb. */
	until.tv_nsec += r->area->head->wants_values ? LOOK_NS : 999999999;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&r->named, &r->lock, &until);
}

/* Where no rows are drawn the whole pool is made, piece by piece: others want
 * the lock, too.  Returns whether there is more to do. */
static int recorder_fill(struct cst_recorder *r)
{
	if (r->is_filling)
		r->is_filling = (uint8_t)area_fill(r->area, r->pool_chunks);
	return r->is_filling;
}

/* One turn of the reader thread, under the lock.  Returns how long to rest,
 * in microseconds. */
static uint32_t recorder_turn(struct cst_recorder *r)
{
	uint32_t ticket =
		__atomic_load_n(&r->area->head->sync_asked, __ATOMIC_SEQ_CST);
	uint64_t now = clock_monotonic_ns();
	int is_handshake = r->mode == CST_MODE_HANDSHAKE;
	int peek =
		is_handshake || now - r->last_peek_ns >= TICK_MS * 1000000ull;
	int taken;

	recorder_keep(r);
	if (recorder_is_held(r)) {
		sites_learn(&r->sites); /* a hook may wait for that */
		return TICK_MS * 1000;
	}
	thread_ends_mark(r, 0);
	r->may_hold = !is_handshake;
	taken = recorder_round(r, peek);
	r->may_hold = 0;
	recorder_want_names(r, taken == ROUND_NAMES);
	if (taken == ROUND_NAMES) {
		/* They may have come while the lock was open for asking. */
		if (questions_n_open(&r->sites.questions))
			wait_for_names(r);
		return 0;
	}
	if (peek)
		r->last_peek_ns = now;
	recorder_tell_full(r);
	recorder_tell_troubles(r);
	area_answer(r->area, ticket);
	if (recorder_fill(r))
		return 0;
	if (taken) {
		r->n_quiet = 0;
		return is_handshake || taken > BEHIND_RECORDS ? 0 : BUSY_US;
	}
	if (peek)
		thread_ends_unwind(r);
	if (++r->n_quiet % RECLAIM_TICKS == 0)
		reader_reclaim(&r->reader);
	return TICK_MS * 1000;
}

static void *recorder_main(void *arg)
{
	struct cst_recorder *r = arg;

	area_hold(r->area);
	recorder_lock(r);
	r->is_running = 1;
	pthread_cond_broadcast(&r->named);
	while (!r->is_stopping) {
		uint32_t n_sites = r->sites.n, rest_us = recorder_turn(r);
		/* New functions come one after the other, and with values each
		 * waits for a look.  Otherwise a rest is a rest: who reads on
		 * behind the program's heels takes cache lines from it. */
		int can_wake =
			rest_us >= TICK_MS * 1000 || r->sites.n != n_sites;

		rest_us = sampling_rest_us(&r->sampling, rest_us);
		recorder_unlock(r);
		if (rest_us && can_wake)
			area_sleep(r->area, rest_us);
		else if (rest_us)
			usleep(rest_us);
		recorder_lock(r);
	}
	recorder_unlock(r);
	return NULL;
}

static int recorder_start_thread(struct cst_recorder *r, struct cst_error *err)
{
	int failed = worker_start(&r->thread, recorder_main, r);

	if (failed)
		return cst_fail(CST_FAILED, err, "cannot start the reader: %s",
				strerror(failed));
	recorder_lock(r);
	while (!r->is_running)
		pthread_cond_wait(&r->named, &r->lock);
	recorder_unlock(r);
	return 0;
}

/* ---- life ---------------------------------------------------------------- */

int recorder_init_stages(struct cst_recorder *r, struct cst_error *err)
{
	int status;

	r->names = names_new();
	if (!r->names)
		return cst_fail_memory(err);
	status = reader_init(&r->reader, r->area, err);
	if (status == 0)
		status = live_init(&r->live, r->names, err);
	if (status < 0)
		return status;
	if (sites_init(&r->sites, r->area, r->names) < 0)
		return cst_fail_memory(err);
	callstack_init(&r->calls, &r->sites, &r->pauses);
	return 0;
}

/* The program's processes may write to the terminal, and gdb, which tells of
 * threads that come and go. */
static uint64_t others_wrote(void *arg)
{
	const struct cst_recorder *r = arg;
	const struct area *a = r->area;
	uint32_t n = a->head->n_processes, n_threads = a->head->n_threads;
	uint64_t sum = 0, n_live = 0;
	int status = io_count((uint32_t)getpid(), &sum);

	if (a->is_elsewhere)
		return UINT64_MAX;
	if (n > CST_MAX_PROCESSES || n_threads > CST_MAX_THREADS)
		return UINT64_MAX;
	for (uint32_t i = 0; i < n && status == 0; i++)
		status = io_count(a->processes[i].pid, &sum);
	for (uint32_t i = 0; i < n_threads; i++)
		n_live += !a->threads[i].is_ended;
	/* A byte more does not hide that a thread has ended. */
	return status < 0 ? UINT64_MAX : (n_live << 48) + sum - io_own();
}

static int recorder_parts(struct cst_recorder *r,
			  const struct cst_recorder_options *o,
			  struct cst_error *err)
{
	uint32_t chunks;
	int status;

	r->pool_chunks = o->pool_chunks ? o->pool_chunks : CST_USUAL_CHUNKS;
	if (r->pool_chunks > CST_MAX_CHUNKS)
		r->pool_chunks = CST_MAX_CHUNKS;
	chunks = r->pool_chunks < FIRST_CHUNKS ? r->pool_chunks : FIRST_CHUNKS;
	status = area_new(chunks, &r->area, err);
	if (status == 0)
		r->area->is_elsewhere = o->is_elsewhere != 0;
	if (status == 0)
		status = recorder_init_stages(r, err);
	if (status < 0)
		return status;
	if (r->pool_chunks > r->area->max_chunks)
		r->pool_chunks = r->area->max_chunks;
	r->area->head->wait_limit_ms =
		o->wait_limit_ms ? o->wait_limit_ms : USUAL_WAIT_MS;
	r->live.rows.screen.outlet.text = r->callbacks.text;
	r->live.rows.screen.outlet.busy = r->callbacks.busy;
	r->live.rows.screen.outlet.arg = r->callbacks.arg;
	r->live.rows.screen.others = others_wrote;
	r->live.rows.screen.others_arg = r;
	r->live.rows.pauses = &r->pauses;
	return 0;
}

int cst_recorder_open(const struct cst_recorder_options *options,
		      const struct cst_callbacks *callbacks,
		      struct cst_recorder **out, struct cst_error *err)
{
	struct cst_recorder *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return cst_fail_memory(err);
	clock_calibrate(); /* what follows takes its time anyway */
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->named, NULL);
	r->callbacks = *callbacks;
	status = recorder_parts(r, options, err);
	if (status == 0)
		status = cst_recorder_begin(r, options, err);
	if (status == 0)
		status = recorder_start_thread(r, err);
	if (status < 0) {
		cst_recorder_close(r);
		return status;
	}
	*out = r;
	return 0;
}

void cst_recorder_close(struct cst_recorder *r)
{
	if (!r)
		return;
	if (r->area)
		area_end(r->area);
	if (r->is_running) {
		recorder_lock(r);
		r->is_stopping = 1;
		pthread_cond_broadcast(&r->named);
		recorder_unlock(r);
		area_end_sleep(r->area);
		pthread_join(r->thread, NULL);
	}
	cst_trace_free(r->snapshot);
	if (r->writer)
		writer_close(r->writer, NULL, NULL);
	recorder_forget(r);
	handover_end(&r->handover);
	sampling_release(&r->sampling);
	filter_free(r->mute);
	live_release(&r->live);
	reader_release(&r->reader);
	mirror_release(&r->mirror);
	sites_release(&r->sites);
	pauses_release(&r->pauses);
	names_free(r->names);
	area_free(r->area);
	pthread_cond_destroy(&r->named);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

const char *cst_recorder_area_path(const struct cst_recorder *r)
{
	return r->area->path;
}

int cst_recorder_area_path_for(struct cst_recorder *r, uint32_t pid, char *out,
			       uint64_t size, struct cst_error *err)
{
	struct handover *h = &r->handover;
	int status = 0;

	if (!task_is_others(pid)) { /* else it sees nothing of ours in /proc */
		snprintf(out, size, "%s", r->area->path);
		return 0;
	}
	if (h->pid != pid) {
		handover_end(h);
		status = handover_begin(h, r->area->fd, pid, err);
	}
	snprintf(out, size, "%s", h->path);
	return status;
}

int cst_recorder_fetch(struct cst_recorder *r, uint64_t area,
		       const struct cst_memory *memory, struct cst_error *err)
{
	int status;

	recorder_lock(r);
	r->mirror.memory = memory;
	if (!area)
		ahead_look_all(&r->sites, AHEAD_MS);
	status = area ? mirror_fetch(&r->mirror, r->area, area, err)
		      : mirror_tell(&r->mirror, r->area, err);
	r->mirror.memory = NULL;
	recorder_unlock(r);
	return status;
}

/* Returns the modules of the process that gdb has. */
static struct modules *recorder_modules(const struct cst_recorder *r)
{
	return spaces_asker(&r->sites.spaces)->modules;
}

int cst_recorder_process(struct cst_recorder *r, uint32_t pid, int has_ended,
			 struct cst_error *err)
{
	int status = 0;

	recorder_lock(r);
	r->pid = pid;
	spaces_ask(&r->sites.spaces, pid, has_ended);
	r->area->has_ended = has_ended;
	if (!has_ended && !r->area->is_elsewhere)
		status = modules_refresh(recorder_modules(r), pid, err);
	recorder_unlock(r);
	return status;
}

int cst_recorder_exec(struct cst_recorder *r, struct cst_error *err)
{
	int failed;

	recorder_lock(r);
	failed = spaces_exec(&r->sites.spaces);
	recorder_unlock(r);
	return failed ? cst_fail_memory(err) : 0;
}

void cst_recorder_unmapped(struct cst_recorder *r, uint64_t start, uint64_t end)
{
	recorder_lock(r);
	sites_unmap(&r->sites, start, end);
	recorder_unlock(r);
}

void cst_recorder_debug_file(struct cst_recorder *r, const char *module,
			     const char *debug_file)
{
	recorder_lock(r);
	modules_debug_file(recorder_modules(r), module, debug_file);
	recorder_unlock(r);
}

void cst_recorder_copy(struct cst_recorder *r, const char *path)
{
	char build_id[CST_BUILD_ID_SIZE] = "";

	if (!cst_build_id(path, build_id) || !*build_id)
		return;
	recorder_lock(r);
	modules_copy(recorder_modules(r), build_id, path);
	recorder_unlock(r);
}

void cst_recorder_fill(struct cst_recorder *r)
{
	recorder_lock(r);
	while (recorder_fill(r))
		;
	recorder_unlock(r);
}

/* ---- taking, at gdb's word ------------------------------------------------
 */

/* Under the lock.  Where threads run on, as in non-stop mode, they may write as
 * fast as this reads: what is from before is enough. */
static int recorder_rounds(struct cst_recorder *r, int is_last)
{
	uint64_t begin = r->area->is_elsewhere ? UINT64_MAX : clock_ticks();

	for (int i = 0; i < MAX_ROUNDS; i++) {
		int taken;

		r->reader.oldest = UINT64_MAX;
		taken = recorder_round(r, 1);
		if (taken == ROUND_NAMES)
			return 0;
		if (taken && (r->has_held || r->reader.oldest < begin))
			continue;
		thread_ends_unwind(r);
		if (!is_last)
			break;
		/* Only now are all threads known; their last records may
		 * have come meanwhile. */
		thread_ends_mark(r, 1);
		is_last = 0;
	}
	live_settle(&r->live, &r->calls, pauses_skip(&r->pauses, clock_ticks()),
		    LIVE_STOP_MS);
	/* Without a live view names hold up nothing, but who drains may be
	 * about to end the trace: the last chance to ask. */
	return !questions_n_open(&r->sites.questions);
}

static int recorder_drain(struct cst_recorder *r)
{
	return recorder_rounds(r, 1);
}

int cst_recorder_drain(struct cst_recorder *r)
{
	int done;

	recorder_lock(r);
	done = recorder_drain(r);
	recorder_keep(r);
	recorder_tell_troubles(r);
	recorder_unlock(r);
	return done;
}

int cst_recorder_hit(struct cst_recorder *r, uint64_t callee, uint64_t caller,
		     uint64_t number)
{
	uint64_t *seen = &r->seen[number % SEEN_NUMBERS];
	int done;

	(void)callee; /* the area has them, with their times */
	(void)caller;
	recorder_lock(r);
	if (*seen == number) {
		recorder_unlock(r);
		return 2;
	}
	done = recorder_rounds(r, 0);
	if (done)
		*seen = number;
	recorder_unlock(r);
	return done;
}

int cst_recorder_questions(struct cst_recorder *r, struct cst_question *out,
			   int n)
{
	int got;

	recorder_lock(r);
	got = questions_take(&r->sites.questions, out, n);
	if (!questions_n_waiting(&r->sites.questions))
		r->is_asking = 0;
	recorder_unlock(r);
	return got;
}

void cst_recorder_alone(struct cst_recorder *r)
{
	recorder_lock(r);
	r->sites.questions.is_alone = 1;
	recorder_unlock(r);
}

int cst_recorder_place(struct cst_recorder *r, uint32_t id,
		       struct cst_place *out)
{
	struct module_file file;
	int is_found;

	recorder_lock(r);
	is_found = questions_file(&r->sites.questions, id, &file);
	if (is_found) {
		out->addr = file.addr;
		out->fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
		snprintf(out->path, sizeof(out->path), "%s", file.path);
	}
	recorder_unlock(r);
	return is_found && out->fd >= 0;
}

void cst_recorder_answer(struct cst_recorder *r, uint32_t id, const char *name,
			 const char *file, uint32_t line)
{
	uint32_t function;

	recorder_lock(r);
	function = sites_answer(&r->sites, id, name, file, line);
	if (function != UINT32_MAX && r->live.filter)
		filter_forget(r->live.filter, function);
	if (!questions_n_open(&r->sites.questions))
		pthread_cond_broadcast(&r->named);
	recorder_unlock(r);
}

uint64_t cst_recorder_drawn_ns(const struct cst_recorder *r)
{
	return __atomic_load_n(&r->live.rows.screen.outlet.written_ns,
			       __ATOMIC_RELAXED);
}

void cst_recorder_pause(struct cst_recorder *r)
{
	uint64_t now = clock_ticks(); /* the lock may be a long round away */

	recorder_lock(r);
	pauses_begin(&r->pauses, now);
	recorder_unlock(r);
}

void cst_recorder_resume(struct cst_recorder *r)
{
	uint64_t ticks;

	recorder_lock(r);
	ticks = pauses_end(&r->pauses, clock_ticks());
	__atomic_add_fetch(&r->area->head->paused_ticks, ticks,
			   __ATOMIC_RELAXED);
	if (!r->has_begun) /* recorder_begin_at() has the whole of it */
		ticks = 0;
	r->live.rows.paused_ticks += ticks;
	if (ticks && r->writer)
		writer_pause(r->writer, pauses_skip(&r->pauses, clock_ticks()),
			     ticks);
	recorder_unlock(r);
}

int cst_recorder_live(struct cst_recorder *r, int is_live, enum cst_sink sink,
		      int fd, const struct cst_look *look,
		      const struct cst_choice *choice, struct cst_error *err)
{
	struct cst_choice muted = {
		.exclude = choice->exclude, .std = 1, .names = choice->names};
	struct filter *filter = NULL, *mute = NULL;
	struct where *where = NULL;
	struct live_options options = {
		.is_on = is_live && sink != CST_SINK_NONE,
		.sink = sink,
		.fd = fd,
		.look = *look,
		/* What is not kept has no row either. */
		.min_ns = choice->min_ns > r->keep_ns ? choice->min_ns
						      : r->keep_ns,
		.thread = choice->thread,
		.keep_depth = r->calls.keep_depth,
	};
	int status = 0;

	if (options.is_on)
		status = filter_new(choice, &filter, err);
	if (status == 0 && choice->exclude)
		status = filter_new(&muted, &mute, err);
	if (status == 0 && options.is_on && choice->where)
		status = where_new(choice->where, &where, err);
	if (status < 0) {
		filter_free(filter);
		filter_free(mute);
		return status;
	}
	recorder_lock(r);
	live_set_where(&r->live, where);
	sites_filter(&r->sites, mute, filter);
	filter_free(r->mute);
	r->mute = mute;
	r->is_filling = !options.is_on;
	status = live_set_span(&r->live, choice->from, choice->until);
	live_set(&r->live, &options, filter, &r->calls);
	r->has_reported_rows = 0;
	recorder_unlock(r);
	return status < 0 ? cst_fail_memory(err) : 0;
}
