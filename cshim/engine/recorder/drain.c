/* SPDX-License-Identifier: MIT
 *
 * One round of reading: learns new sites, reads each thread's records, turns
 * them into calls, and gives the chunks back.
 */
#include "calls/find_lane.h"
#include "recorder/drain.h"
#include "recorder/one_trace.h"
#include "recorder/recorder.h"
#include "sites/verdict.h"

#include <stdlib.h>
#include <unistd.h>

/* So many chunks waiting say that the program is faster than we are. */
enum { MANY_CHUNKS = 32 };

/* Rows cannot be drawn, nor functions be dropped, before they have a name. */
static int waits_for_names(const struct cst_recorder *r)
{
	return r->live.filter || r->mute;
}

static int needs_names(const struct cst_recorder *r)
{
	return waits_for_names(r) && questions_n_open(&r->sites.questions);
}

static void take_seeds(struct cst_recorder *r)
{
	for (uint32_t i = 0; i < r->n_seeding; i++) {
		struct seeding *s = &r->seeding[i];

		callstack_seed(&r->calls, s->thread, s->function, s->call_site,
			       &s->seed, r->start_ticks);
	}
	r->n_seeding = 0;
}

void recorder_begin_at(struct cst_recorder *r, uint64_t time)
{
	uint64_t from = r->calls.begin_ticks;

	r->has_begun = 1;
	if (from >= time)
		return;
	pauses_insert(&r->pauses, from, time);
	writer_pause(r->writer, r->start_ticks, time - from);
	r->live.rows.start_wall_ns += pending_ns(&r->live.rows, time - from);
}

static int is_part_of_trace(const struct site *site)
{
	return site->is_own ? !site->is_excluded : !site->is_muted;
}

/* Is there a record in the slice that is of this trace? */
static void look_for_begin(struct cst_recorder *r, const struct slice *slice,
			   uint32_t n_known)
{
	for (uint32_t i = 0; i < slice->n && !r->has_begun; i++) {
		uint32_t number = cst_record_site(&slice->records[i]);
		uint64_t time = slice->records[i].time;

		if (number < n_known && time >= r->calls.begin_ticks &&
		    is_part_of_trace(&r->sites.all[number]))
			recorder_begin_at(r, time);
	}
}

static int is_mark(const struct cst_record *r, int is_known)
{
	uint32_t number = cst_record_site(r);

	return (number == CST_FORK && !is_known) || number == CST_ALTERNATE;
}

/* Marks of forks and the like that it begins with.  A thread is one by its
 * calls: who has none open and only forks is not.  Where its signal stack lies
 * is always kept for later: that mark's time is the earliest, and a fork child
 * that is met before its parent has nobody to inherit calls from. */
static uint32_t take_marks(struct cst_recorder *r, const struct slice *slice)
{
	int is_known = threads_knows(&r->threads, r->area, slice->thread);
	uint32_t n = 0;

	for (; n < slice->n && slice->records[n].time &&
	       is_mark(&slice->records[n], is_known);
	     n++)
		threads_hear(&r->threads, slice->thread, &slice->records[n]);
	return n;
}

/* Returns how many of the slice's records are done with. */
static uint32_t take_slice(struct cst_recorder *r, const struct slice *slice,
			   uint32_t n_known)
{
	uint32_t n = threads_has_met(&r->threads, slice->thread)
			     ? 0
			     : take_marks(r, slice);
	struct thread *t;

	if (n)
		return n;
	t = threads_of_area(&r->threads, &r->calls, r->area, slice->thread);
	if (!t)
		return slice_count(slice);
	if (!r->has_begun)
		look_for_begin(r, slice, n_known);
	return callstack_take(&r->calls, t, slice->records, slice->n, n_known);
}

/* 1: left off where the thread goes to a stack that other threads may have
 * been on before: their records are to be taken first. */
static int take_turn(struct cst_recorder *r, uint32_t turn, int peek,
		     uint32_t n_known)
{
	struct slice slice;

	while (!r->calls.has_left &&
	       reader_next(&r->reader, turn, peek, &slice)) {
		uint32_t n = take_slice(r, &slice, n_known);

		reader_done(&r->reader, turn, n);
		if (!n)
			break; /* of a site that is not known yet */
	}
	return r->calls.has_left;
}

/* In a flood of rows: of a turn all but the newest chunk, without the live
 * view.
 */
static int pass_turn(struct cst_recorder *r, uint32_t turn, uint32_t n_known)
{
	struct slice slice;

	while (!r->calls.has_left && reader_next(&r->reader, turn, 1, &slice) &&
	       !reader_is_newest(&r->reader, turn)) {
		uint64_t n_calls = r->calls.n_calls;
		uint32_t n;

		live_pass(&r->live, &r->calls);
		n = take_slice(r, &slice, n_known);
		n_calls = r->calls.n_calls - n_calls;
		if (n_calls)
			live_passed(&r->live, &r->calls,
				    threads_of_area(&r->threads, &r->calls,
						    r->area, slice.thread),
				    slice.records, n, n_calls);
		reader_done(&r->reader, turn, n);
		if (!n)
			break;
	}
	return r->calls.has_left;
}

/* ---- threads that share stacks --------------------------------------------
 */

/* What is left of a turn's slice, and how much of it was taken. */
struct head {
	struct slice left;
	uint32_t n_taken;
};

static uint64_t head_time(const struct head *h)
{
	return h->left.n ? h->left.records[0].time : UINT64_MAX;
}

static void head_refill(struct cst_recorder *r, struct head *h, uint32_t turn)
{
	if (h->n_taken)
		reader_done(&r->reader, turn, h->n_taken);
	*h = (struct head){0};
	if (reader_next(&r->reader, turn, 1, &h->left))
		h->left.n = slice_count(&h->left);
	else
		h->left.n = 0;
}

/* Take of the earliest head what comes before the second's, and no later than
 * the horizon. 0: there is no more. */
static int take_earliest(struct cst_recorder *r, struct head *heads,
			 uint64_t horizon, uint32_t n_known)
{
	uint64_t first = UINT64_MAX, second = UINT64_MAX;
	uint32_t turn = 0, n = 1;
	struct slice run;

	for (uint32_t i = 0; i < r->reader.n_turns; i++) {
		uint64_t time = head_time(&heads[i]);

		if (time < first) {
			second = first;
			first = time;
			turn = i;
		} else if (time < second) {
			second = time;
		}
	}
	if (first > horizon)
		return 0;
	if (second > horizon)
		second = horizon;
	run = heads[turn].left;
	while (n < run.n && run.records[n].time <= second)
		n++;
	run.n = n;
	n = take_slice(r, &run, n_known);
	heads[turn].n_taken += n;
	heads[turn].left.records += n;
	heads[turn].left.n -= n;
	if (n < run.n)
		return 0;
	if (!heads[turn].left.n)
		head_refill(r, &heads[turn], turn);
	return 1;
}

/* A coroutine may go from thread to thread: take the records of all threads in
 * the order of their times.  Those from before the scan are all to be seen. */
static void take_merged(struct cst_recorder *r, uint64_t horizon,
			uint32_t n_known)
{
	struct head *heads = calloc(r->reader.n_turns, sizeof(*heads));

	if (!heads)
		return;
	for (uint32_t i = 0; i < r->reader.n_turns; i++)
		head_refill(r, &heads[i], i);
	while (take_earliest(r, heads, horizon, n_known))
		;
	for (uint32_t i = 0; i < r->reader.n_turns; i++) {
		if (heads[i].n_taken)
			reader_done(&r->reader, i, heads[i].n_taken);
	}
	free(heads);
}

/* Do threads go on where others were? Coroutines may, and fork children do. */
static int shares_stacks(const struct cst_recorder *r)
{
	return r->calls.n_extra || r->sites.n_first || r->n_processes > 1;
}

static uint8_t has_more(struct cst_recorder *r)
{
	struct slice slice;

	for (uint32_t i = 0; i < r->reader.n_turns; i++)
		if (reader_next(&r->reader, i, 1, &slice))
			return 1;
	return 0;
}

/* In a flood of rows what is newest waits for the next picture. */
static void take_turns(struct cst_recorder *r, int peek, uint64_t horizon,
		       uint32_t n_known)
{
	int is_flooded = r->live.is_flooded;
	int is_drawn = !r->may_hold || area_is_starved(r->area) ||
		       live_is_due(&r->live);
	int is_shared = shares_stacks(r) && r->reader.n_turns > 1;

	r->calls.stays = r->reader.n_turns > 1;
	r->calls.has_left = 0;
	for (uint32_t i = 0; i < r->reader.n_turns && is_flooded && !is_shared;
	     i++)
		is_shared = pass_turn(r, i, n_known);
	if (is_flooded && !is_shared && !is_drawn) {
		r->calls.stays = 0;
		r->has_held = has_more(r);
		return;
	}
	r->has_held = 0;
	live_listen(&r->live, &r->calls);
	for (uint32_t i = 0; i < r->reader.n_turns && !is_shared; i++)
		is_shared = take_turn(r, i, peek, n_known);
	r->calls.stays = 0;
	if (is_shared)
		take_merged(r, horizon, n_known);
}

/* A fork child's tree needs what its parent wrote before it. */
static int has_new_process(struct cst_recorder *r)
{
	uint32_t n =
		__atomic_load_n(&r->area->head->n_processes, __ATOMIC_ACQUIRE);
	int is_new = n != r->n_processes;

	r->n_processes = n;
	return is_new;
}

/* Does gdb's prompt stand where rows would go? */
static int is_at_prompt(const struct cst_recorder *r)
{
	const struct live *l = &r->live;
	int is_gdbs = l->options.sink == CST_SINK_CALLBACK ||
		      (l->options.sink == CST_SINK_FD &&
		       l->options.fd <= STDERR_FILENO);

	return l->filter && is_gdbs && r->pauses.since == UINT64_MAX &&
	       r->mode != CST_MODE_HANDSHAKE;
}

int recorder_is_held(const struct cst_recorder *r)
{
	return is_at_prompt(r) && !area_is_starved(r->area);
}

/* The program waits once the pool is full. */
static enum haste haste(const struct cst_recorder *r, int n_full)
{
	if (n_full <= MANY_CHUNKS)
		return HASTE_NONE;
	return (uint32_t)n_full < r->area->n_chunks / 2 ? HASTE_HURRY
							: HASTE_NEED;
}

int recorder_round(struct cst_recorder *r, int peek)
{
	uint32_t n_known = sites_learn(&r->sites);
	uint64_t before = r->reader.n_records, horizon;
	int n_full;

	if (!r->writer) {
		reader_skip_all(&r->reader);
		return 0;
	}
	sampling_round(r);
	if (needs_names(r))
		return ROUND_NAMES;
	verdict_publish(&r->sites);
	recorder_tell_modules(r, 0);
	take_seeds(r);
	peek |= has_new_process(r);
	horizon = r->area->is_past || r->area->is_elsewhere ? UINT64_MAX - 1
							    : clock_ticks();
	n_full = reader_scan(&r->reader);
	if (!n_full && area_is_starved(r->area))
		area_grow(r->area);
	if (r->live.is_flooded && r->area->n_chunks < r->pool_chunks)
		area_grow(r->area);
	writer_hurry(r->writer, haste(r, n_full));
	r->calls.waits_for_names = (uint8_t)waits_for_names(r);
	r->calls.is_waiting = 0;
	take_turns(r, peek, horizon, n_known);
	area_wake(r->area);
	r->live.rows.screen.has_threads = r->threads.n > 1;
	/* A starved area is emptied during a stop, too; its rows wait. */
	if (!is_at_prompt(r) && !r->calls.is_waiting)
		live_flush(&r->live, &r->calls,
			   pauses_skip(&r->pauses, clock_ticks()));
	if (r->calls.is_waiting)
		return ROUND_NAMES;
	before = r->reader.n_records - before + r->has_held;
	return before > INT32_MAX ? INT32_MAX : (int)before;
}
