/* SPDX-License-Identifier: MIT */
#include "recorder.h"

/* Rows cannot be drawn, nor functions be dropped, before they have a name. */
static int needs_names(const struct cst_recorder *r)
{
	return (r->live.filter || r->mute) && sites_n_open(&r->sites);
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

/* The trace's time 0 is its first record: what gdb took to load libraries is
 * left out like a stop. */
static void begin_at(struct cst_recorder *r, uint64_t time)
{
	struct pause *last =
		r->pauses.n ? &r->pauses.all[r->pauses.n - 1] : NULL;

	uint64_t from = last && last->end > r->calls.begin_ticks
				? last->end
				: r->calls.begin_ticks;

	r->has_begun = 1;
	if (from == UINT64_MAX) /* stopped */
		return;
	pauses_begin(&r->pauses, from);
	writer_pause(r->writer, r->start_ticks, pauses_end(&r->pauses, time));
	r->live.start_wall_ns +=
		(uint64_t)((unsigned __int128)(time - from) * r->live.ns_mult >>
			   r->live.ns_shift);
}

/* Is there a record in the slice that is of this trace? */
static void look_for_begin(struct cst_recorder *r, const struct slice *slice,
			   uint32_t n_known)
{
	for (uint32_t i = 0; i < slice->n && !r->has_begun; i++) {
		uint32_t number = cst_record_site(&slice->records[i]);
		uint64_t time = slice->records[i].time;

		if (number < n_known && time >= r->calls.begin_ticks &&
		    !r->sites.all[number].is_muted)
			begin_at(r, time);
	}
}

/* Returns how many of the slice's records are done with. */
static uint32_t take_slice(struct cst_recorder *r, const struct slice *slice,
			   uint32_t n_known)
{
	struct thread *t =
		crew_of_area(&r->crew, &r->calls, r->area, slice->thread);

	if (!t)
		return slice->n;
	if (!r->has_begun)
		look_for_begin(r, slice, n_known);
	return callstack_take(&r->calls, t, slice->records, slice->n, n_known);
}

int recorder_round(struct cst_recorder *r, int peek)
{
	uint32_t n_known = sites_learn(&r->sites);
	uint64_t before = r->reader.n_records;
	struct slice slice;
	int n_full;

	if (!r->writer) {
		reader_skip_all(&r->reader);
		return 0;
	}
	if (needs_names(r))
		return ROUND_NAMES;
	take_seeds(r);
	n_full = reader_scan(&r->reader);
	if (!n_full && area_is_starved(r->area))
		area_grow(r->area);
	while (reader_next(&r->reader, peek, &slice))
		reader_done(&r->reader, take_slice(r, &slice, n_known));
	r->live.has_threads = r->crew.n > 1;
	live_flush(&r->live, &r->calls, pauses_skip(&r->pauses, clock_ticks()));
	before = r->reader.n_records - before;
	return before > INT32_MAX ? INT32_MAX : (int)before;
}
