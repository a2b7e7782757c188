/* SPDX-License-Identifier: MIT
 *
 * Begins and ends one trace of a recorder, and brings its file up to date in
 * between: modules, losses, ends of processes, the state of the counters.
 */
#include "area/area_users.h"
#include "base/array.h"
#include "calls/tails.h"
#include "recorder/drain.h"
#include "recorder/one_trace.h"
#include "base/regex.h"
#include "recorder/recorder.h"
#include "sites/ahead.h"

#include "file/cache_file.h"
#include "names/marks.h"
#include "trace/loader.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* What we have taken is in the file after so long; sooner where the
	 * program stands, as gdb is as likely to die then. */
	KEEP_MS = 1000,
	KEEP_STOPPED_MS = 20,
	/* But each lane's block takes some 150 bytes more than its calls
	 * would in the next one: 20 KB a second is enough of that. */
	KEEP_LANE_MS = 8,
};

void recorder_forget(struct cst_recorder *r)
{
	live_forget(&r->live);
	tally_release(&r->tally);
	callstack_release(&r->calls);
	threads_release(&r->threads);
	process_ends_release(&r->lives);
	sampling_forget(&r->sampling);
	free(r->seeding);
	r->seeding = NULL;
	r->n_seeding = r->cap_seeding = 0;
	hashmap_release(&r->injected);
}

static int open_writer(struct cst_recorder *r,
		       const struct cst_recorder_options *o,
		       struct cst_error *err)
{
	struct writer_options options = {
		.path = o->spool && o->spool[0] ? o->spool : NULL,
		.dir = o->spool_dir,
		.cache_name = o->spool_name,
		.limit_bytes = o->limit_bytes,
		.flight_bytes = o->flight_bytes,
		.choice = o->choice,
		.command = o->command,
		.module = o->module,
		.start_ticks = r->start_ticks,
		.start_wall_ns = clock_wall_ns(),
	};

	clock_rate(&options.ns_mult, &options.ns_shift);
	r->live.rows.ns_mult = options.ns_mult;
	r->live.rows.ns_shift = options.ns_shift;
	r->live.rows.start_ticks = r->start_ticks;
	r->live.rows.start_wall_ns = options.start_wall_ns;
	r->live.rows.paused_ticks = 0;
	r->live.rows.screen.has_heading = 0;
	live_set_span(&r->live, NULL, NULL);
	return writer_open(&options, r->names, &r->writer, err);
}

struct telling {
	struct writer *writer;
	uint32_t space;
};

static void tell_module(void *arg, const struct module_note *note)
{
	const struct telling *to = arg;
	struct writer_module m = {
		.space = to->space,
		.path = note->path,
		.build_id = note->build_id,
		.start = note->start,
		.end = note->end,
		.bias = note->bias,
	};

	writer_module(to->writer, &m);
}

void recorder_tell_modules(struct cst_recorder *r, int all)
{
	const struct spaces *spaces = &r->sites.spaces;
	struct telling to = {.writer = r->writer};

	if (!all && r->n_reported_sites == r->sites.n)
		return;
	r->n_reported_sites = r->sites.n;
	for (uint32_t i = 0; i < spaces->n; i++) {
		const char *changed =
			r->changed[0]
				? NULL
				: modules_next_change(spaces->all[i]->modules);

		if (changed)
			snprintf(r->changed, sizeof(r->changed), "%s", changed);
		to.space = i + 1;
		modules_tell(spaces->all[i]->modules, r->n_traces, all,
			     tell_module, &to);
	}
}

static void set_kept(struct cst_recorder *r,
		     const struct cst_recorder_options *o)
{
	uint64_t ticks =
		(uint64_t)(((unsigned __int128)o->keep_ns
			    << r->live.rows.ns_shift) /
			   (r->live.rows.ns_mult ? r->live.rows.ns_mult : 1));

	r->keep_ns = o->keep_ns;
	callstack_keep(&r->calls, o->keep_depth, ticks);
	sites_keep(&r->sites, o->keep_bytes);
	__atomic_store_n(&r->area->head->keep_depth, o->keep_depth,
			 __ATOMIC_RELAXED);
}

int cst_recorder_begin(struct cst_recorder *r,
		       const struct cst_recorder_options *options,
		       struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	if (r->writer) {
		pthread_mutex_unlock(&r->lock);
		return cst_fail(CST_FAILED, err, "a trace is under way");
	}
	r->mode = options->mode;
	r->live.rows.is_exact =
		r->mode == CST_MODE_BREAKPOINT || r->mode == CST_MODE_HANDSHAKE;
	r->is_full = 0;
	r->has_begun = 0;
	r->calls.begin_ticks = clock_ticks();
	if (pauses_end(&r->pauses, r->calls.begin_ticks)) /* cut in two */
		pauses_begin(&r->pauses, r->calls.begin_ticks);
	r->start_ticks = pauses_skip(&r->pauses, r->calls.begin_ticks);
	r->n_records = r->reader.n_records;
	r->n_reported_sites = 0;
	r->n_kept_dropped = 0;
	r->n_traces++;
	marks_clear(r->names);
	status = open_writer(r, options, err);
	r->calls.writer = r->writer;
	set_kept(r, options);
	__atomic_fetch_add(&r->area->head->n_begun, 1, __ATOMIC_RELAXED);
	r->calls.n_dropped = 0;
	pthread_mutex_unlock(&r->lock);
	return status;
}

void cst_recorder_what(struct cst_recorder *r, int is_asked)
{
	__atomic_store_n(&r->area->head->no_what, !is_asked, __ATOMIC_RELAXED);
}

int cst_recorder_values(struct cst_recorder *r, const struct cst_values *v,
			struct cst_error *err)
{
	struct regex *only = NULL;
	int status = v->functions ? regex_compile(&only, v->functions, err) : 0;

	if (status < 0)
		return status;
	if (v->text_bytes > CST_TEXT_BYTES_MAX) {
		regex_free(only);
		return cst_fail(CST_BAD_INPUT, err,
				"of a text there may be 1 to %d bytes",
				CST_TEXT_BYTES_MAX);
	}
	pthread_mutex_lock(&r->lock);
	ahead_forget(&r->sites);
	status = copies_want(&r->sites, v, only);
	pthread_mutex_unlock(&r->lock);
	return status < 0 ? cst_fail_memory(err) : 0;
}

void cst_recorder_patched(struct cst_recorder *r)
{
	const struct area *a = r->area;
	uint32_t process = 0;

	pthread_mutex_lock(&r->lock);
	/* If it is not there yet, it will be the next one. */
	while (process < a->head->n_processes &&
	       a->processes[process].pid != r->sites.spaces.pid)
		process++;
	if (process < CST_MAX_PROCESSES)
		ahead_look_patched(&r->sites, process);
	pthread_mutex_unlock(&r->lock);
}

int cst_recorder_point(struct cst_recorder *r, uint32_t number,
		       const struct cst_point *p, struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = points_set(&r->sites, number, p, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

void cst_recorder_point_counts(struct cst_recorder *r, uint32_t number,
			       struct cst_point_counts *out)
{
	const struct point *p;
	uint32_t mult, shift;

	clock_rate(&mult, &shift);
	*out = (struct cst_point_counts){0};
	pthread_mutex_lock(&r->lock);
	p = points_find(&r->sites.points, number);
	if (p)
		*out = (struct cst_point_counts){
			p->n_passes, p->n_hits,
			(uint64_t)((unsigned __int128)p->cost_ticks * mult >>
				   shift)};
	pthread_mutex_unlock(&r->lock);
}

void cst_recorder_keep(struct cst_recorder *r, uint32_t depth, uint32_t bytes,
		       uint64_t ns)
{
	const struct cst_recorder_options options = {
		.keep_depth = depth, .keep_bytes = bytes, .keep_ns = ns};

	pthread_mutex_lock(&r->lock);
	set_kept(r, &options);
	pthread_mutex_unlock(&r->lock);
}

struct cst_losses recorder_losses(const struct cst_recorder *r)
{
	const struct cst_area *head = r->area->head;
	struct cst_losses l = {
		.n_full = head->n_lost_full,
		.n_sites = head->n_lost_sites,
		.n_threads = head->n_lost_threads,
		.n_holes = r->reader.n_holes,
		.n_dropped = r->calls.n_dropped,
		.n_limit = r->writer ? writer_dropped(r->writer) : 0,
		.n_samples = r->sampling.n_lost,
		.is_limit_reached = r->is_full,
		.n_past_begin = head->n_past_begin,
		.n_past_all = head->n_past_all,
		.n_past_sealed = head->n_past_sealed,
		.n_ended = head->n_ended,
		.n_past_exec = head->n_past_exec,
	};

	_Static_assert(sizeof(l.past_exec) == CST_NAME_SIZE, "the same path");
	memcpy(l.past_exec, head->past_exec, sizeof(l.past_exec) - 1);
	return l;
}

static void fill_status(struct cst_recorder *r, struct cst_status_report *out)
{
	*out = (struct cst_status_report){
		.n_calls = r->calls.n_calls - r->calls.n_dropped,
		.n_other = r->calls.n_other,
		.n_open = callstack_n_open(&r->calls),
		.n_unwound = r->calls.n_unwound,
		.n_seeds = r->calls.n_seeds,
		.n_orphans = r->calls.n_orphans,
		.losses = recorder_losses(r),
		.n_records = r->reader.n_records - r->n_records,
		.n_waits = r->area->head->n_waits,
		.area_bytes = area_bytes(r->area),
		.spool_bytes = r->writer ? writer_bytes(r->writer) : 0,
		.n_threads = r->threads.n,
		.n_processes = r->threads.n_processes,
		.n_samples = r->sampling.n_samples,
	};
	if (r->sampling.area) {
		out->sample_hz = r->sampling.area->head->hz;
		out->sample_clock = r->sampling.area->head->clock;
		out->sample_source = r->sampling.area->head->source;
	}
	names_count_called(r->names, &out->n_functions, &out->n_sites);
	out->duration_ns = pending_ns(&r->live.rows,
				      pauses_skip(&r->pauses, clock_ticks()) -
					      r->start_ticks);
}

void cst_recorder_status(struct cst_recorder *r, struct cst_status_report *out)
{
	pthread_mutex_lock(&r->lock);
	fill_status(r, out);
	pthread_mutex_unlock(&r->lock);
	out->n_running = area_n_running(r->area);
}

void cst_recorder_exited(struct cst_recorder *r)
{
	uint64_t now = clock_ticks(); /* before a wait for the lock */

	if (area_n_running(r->area))
		return;
	pthread_mutex_lock(&r->lock);
	pauses_begin(&r->pauses, now);
	pthread_mutex_unlock(&r->lock);
}

/* Sets the trace's end to now, and fills *status. */
static void set_end(struct cst_recorder *r, struct cst_status_report *status)
{
	fill_status(r, status);
	writer_set_losses(r->writer, &status->losses);
	writer_set_end(r->writer, pauses_skip(&r->pauses, clock_ticks()));
	process_ends_tell(r);
}

/* A readable trace of what the writer's file, or its flight, holds. */
static int open_trace(struct cst_recorder *r, int fd, int is_flight,
		      const struct cst_status_report *status,
		      struct cst_trace **out, struct cst_error *err)
{
	struct cst_status_report mine = *status, read;
	int failed = trace_open(fd, "the recorded trace", out, err);

	if (failed < 0)
		return failed;
	/* Calls may have been packed when the disk was full. */
	cst_trace_status(*out, &read);
	if (is_flight && mine.n_calls > read.n_calls) {
		mine.n_forgotten = mine.n_calls - read.n_calls;
		mine.n_calls = read.n_calls;
		mine.spool_bytes = read.spool_bytes;
	} else if (mine.losses.is_limit_reached &&
		   mine.n_calls > read.n_calls) {
		mine.losses.n_limit = mine.n_calls - read.n_calls;
		mine.n_calls = read.n_calls;
	}
	trace_set_status(*out, &mine);
	if (marks_copy((*out)->names, r->names) < 0)
		marks_clear((*out)->names);
	if (r->pauses.since == UINT64_MAX && area_n_running(r->area))
		trace_set_stopped(*out);
	return 0;
}

static int end_locked(struct cst_recorder *r, struct cst_trace **out,
		      struct cst_error *err)
{
	struct cst_status_report status;
	int fd = -1, failed;
	int is_flight;
	char *cache_path;

	if (!r->writer)
		return cst_fail(CST_EMPTY, err, "no trace is under way");
	recorder_round(r, 1);
	live_settle(&r->live, &r->calls, pauses_skip(&r->pauses, clock_ticks()),
		    OUTLET_FOREVER);
	cst_trace_free(take(r->snapshot));
	tails_give_up_all(&r->calls);
	callstack_keep_open(&r->calls);
	set_end(r, &status);
	recorder_tell_modules(r, 1);
	writer_flush(r->writer, NULL);
	recorder_tell_full(r);
	fill_status(r, &status);
	cache_path = writer_take_cache_path(r->writer);
	is_flight = writer_is_flight(r->writer);
	if (is_flight) {
		failed = writer_save(r->writer, &fd, err);
		writer_close(r->writer, NULL, NULL);
	} else {
		failed = writer_close(r->writer, &fd, err);
	}
	r->writer = r->calls.writer = NULL;
	recorder_forget(r);
	if (failed < 0) {
		cache_file_remove(cache_path);
		return failed;
	}
	failed = open_trace(r, fd, is_flight, &status, out, err);
	if (failed < 0)
		free(cache_path); /* it may be read another time */
	else
		(*out)->cache_path = cache_path;
	return failed;
}

int cst_recorder_end(struct cst_recorder *r, struct cst_trace **out,
		     struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = end_locked(r, out, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* Opens a file of all that was recorded, which the caller closes. */
static int snapshot_file(struct cst_recorder *r, int *fd, struct cst_error *err)
{
	int status;

	if (writer_is_flight(r->writer))
		return writer_save(r->writer, fd, err);
	status = writer_flush(r->writer, err);
	if (status < 0)
		return status;
	*fd = dup(writer_fd(r->writer));
	return *fd < 0 ? cst_fail_sys(err, "cannot read the trace") : 0;
}

static int snapshot_locked(struct cst_recorder *r, struct cst_trace **out,
			   struct cst_error *err)
{
	struct cst_status_report status;
	int fd, failed;

	if (!r->writer)
		return cst_fail(CST_EMPTY, err, "no trace is under way");
	cst_trace_free(take(r->snapshot));
	callstack_keep_open(&r->calls);
	set_end(r, &status);
	recorder_tell_modules(r, 1);
	failed = snapshot_file(r, &fd, err);
	if (failed < 0)
		return failed;
	fill_status(r, &status);
	failed = open_trace(r, fd, writer_is_flight(r->writer), &status,
			    &r->snapshot, err);
	if (failed == 0)
		*out = r->snapshot;
	return failed;
}

static int save_locked(struct cst_recorder *r, struct cst_error *err)
{
	struct cst_status_report now;
	int fd, status;

	if (!r->writer || !writer_is_flight(r->writer))
		return cst_fail(CST_EMPTY, err, "no flight is under way");
	recorder_round(r, 1);
	set_end(r, &now);
	status = writer_save(r->writer, &fd, err);
	if (status == 0)
		close(fd);
	return status;
}

int cst_recorder_save(struct cst_recorder *r, struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = save_locked(r, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* Between one time and the next. */
static uint64_t keep_rest_ms(const struct cst_recorder *r)
{
	int is_stopped = r->pauses.since == UINT64_MAX;
	uint64_t least = is_stopped ? KEEP_STOPPED_MS : KEEP_MS;
	uint64_t most = is_stopped ? KEEP_MS : UINT64_MAX;
	uint64_t rest = (uint64_t)r->n_kept * KEEP_LANE_MS;

	return rest < least ? least : rest > most ? most : rest;
}

/* Returns whether more than twice as many calls were dropped as were last
 * reported, so that the full file grows no more often than that. */
static int keep_has_dropped(const struct cst_recorder *r)
{
	return writer_dropped(r->writer) > 2 * r->n_kept_dropped;
}

void recorder_keep(struct cst_recorder *r)
{
	uint64_t now = clock_monotonic_ns();
	struct cst_status_report status;
	uint32_t n;

	if (!r->writer || !writer_outlives_us(r->writer) ||
	    now - r->last_keep_ns < keep_rest_ms(r) * 1000000)
		return;
	n = writer_n_waiting(r->writer);
	if (!n && !r->lives.has_news && !keep_has_dropped(r))
		return;
	set_end(r, &status);
	r->n_kept_dropped = writer_dropped(r->writer);
	writer_keep(r->writer);
	r->last_keep_ns = now;
	r->n_kept = n;
}

static int64_t count_locked(struct cst_recorder *r, struct filter *wanted,
			    struct cst_error *err)
{
	struct cst_trace *t;
	int64_t n = 0;
	int status = snapshot_locked(r, &t, err);

	if (status == 0)
		status = tally_add(&r->tally, t, err);
	for (uint32_t i = 0; i < r->tally.cap_sites && status == 0; i++)
		if (i < r->names->n_sites && r->tally.of_site[i] &&
		    filter_excludes(wanted, r->names,
				    r->names->sites[i].function))
			n += (int64_t)r->tally.of_site[i];
	return status < 0 ? status : n;
}

int64_t cst_recorder_count(struct cst_recorder *r, const char *word,
			   enum cst_names names, struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = word,
					  .names = (uint8_t)names};
	struct filter *wanted;
	int64_t n = filter_new(&choice, &wanted, err);

	if (n < 0)
		return n;
	pthread_mutex_lock(&r->lock);
	n = count_locked(r, wanted, err);
	pthread_mutex_unlock(&r->lock);
	filter_free(wanted);
	return n;
}

int cst_recorder_trace(struct cst_recorder *r, struct cst_trace **out,
		       struct cst_error *err)
{
	int status;

	pthread_mutex_lock(&r->lock);
	status = snapshot_locked(r, out, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* ---- what does not come out of the area ---------------------------------- */

static void seed_add(struct cst_recorder *r, struct thread *t,
		     const struct cst_seed *seed)
{
	uint32_t function = sites_function(&r->sites, seed->callee);
	uint32_t call_site;

	if (function == UINT32_MAX)
		return;
	call_site = sites_add_call(&r->sites, function, seed->caller);
	if (call_site == UINT32_MAX)
		return;
	r->seeding[r->n_seeding++] = (struct seeding){
		.thread = t,
		.seed = *seed,
		.function = function,
		.call_site = call_site,
	};
}

int cst_recorder_seed(struct cst_recorder *r, uint32_t tid,
		      const char *thread_name, const struct cst_seed *seeds,
		      int n, struct cst_error *err)
{
	struct thread *t = NULL;
	uint32_t process;

	pthread_mutex_lock(&r->lock);
	/* It may not be the first to make a call. */
	process = area_expect(r->area, r->pid, r->sites.spaces.asker_from);
	if (process != UINT32_MAX)
		t = threads_of_tid(&r->threads, &r->calls, process, r->pid, tid,
				   thread_name);
	if (!t || array_room(&r->seeding, &r->cap_seeding,
			     r->n_seeding + (uint64_t)n) < 0) {
		pthread_mutex_unlock(&r->lock);
		return cst_fail_memory(err);
	}
	for (int i = 0; i < n; i++)
		seed_add(r, t, &seeds[i]);
	r->has_begun |= n > 0;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

uint64_t cst_recorder_function(struct cst_recorder *r, uint64_t pc)
{
	uint64_t start;

	pthread_mutex_lock(&r->lock);
	start = sites_function_start(&r->sites, pc);
	pthread_mutex_unlock(&r->lock);
	return start;
}

/* The site of an injected event; 0: no room. */
static uint32_t injected_site(struct cst_recorder *r,
			      const struct cst_site *site)
{
	uint64_t key = site->callee * 0x9e3779b97f4a7c15ull;
	uint32_t *known, number;

	key = (key ^ site->caller) * 0xbf58476d1ce4e5b9ull;
	key = (key ^ site->hook ^ key >> 29) * 0x94d049bb133111ebull | 1;
	known = hashmap_get(&r->injected, key);
	if (known)
		return *known;
	number = area_add_site(r->area, site);
	if (number && hashmap_put(&r->injected, key, number) < 0)
		return 0;
	return number;
}

static int inject_locked(struct cst_recorder *r, uint32_t tid,
			 const struct cst_site *site, uint64_t sp, uint64_t fp,
			 struct cst_error *err)
{
	uint32_t number = injected_site(r, site);
	uint64_t now = clock_ticks();
	struct cst_record records[16] = {0}; /* one, and to look ahead */
	uint32_t process =
		area_find_process(r->area, r->pid, r->sites.spaces.asker_from);
	struct thread *t;

	if (!number)
		return cst_fail(CST_FAILED, err, "the site table is full");
	/* Names, seeds, rows: as for what comes out of the area. */
	if (recorder_round(r, 1) == ROUND_NAMES)
		return 0;
	if (process == UINT32_MAX) /* it is not in the area, nor is any */
		process = 0;
	t = threads_of_tid(&r->threads, &r->calls, process, r->pid, tid, "");
	if (!t)
		return cst_fail_memory(err);
	if (!r->has_begun && !r->sites.all[number].is_muted)
		recorder_begin_at(r, now);
	cst_record_set(records, now, number, sp, fp);
	callstack_take(&r->calls, t, records, 1, r->sites.n);
	recorder_round(r, 1); /* its row goes out at once */
	return 1;
}

int cst_recorder_inject(struct cst_recorder *r, uint32_t tid, uint32_t kind,
			uint64_t callee, uint64_t caller, uint64_t hook,
			uint64_t sp, uint64_t fp, struct cst_error *err)
{
	struct cst_site site = {
		.callee = callee,
		.caller = caller,
		.hook = hook,
		.process = UINT16_MAX, /* gdb's, whichever it is */
		.kind = (uint16_t)kind,
	};
	int status;

	pthread_mutex_lock(&r->lock);
	status = inject_locked(r, tid, &site, sp, fp, err);
	pthread_mutex_unlock(&r->lock);
	return status;
}
