/* SPDX-License-Identifier: MIT
 *
 * Reads an area that was left in a file through a recorder without a thread,
 * into a trace without a name.
 */
#include "recorder/rawarea.h"
#include "area/area_file.h"
#include "base/search.h"
#include "recorder/drain.h"
#include "recorder/one_trace.h"
#include "recorder/recorder.h"
#include "recorder/thread_ends.h"
#include "sites/copies.h"
#include "trace/loader.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SHORT_NS = 1000000, /* too little to tell the clock's rate from */
	MOST_TICK_NS = 100,
	RATE_SHIFT = 31,
};

int rawarea_is(int fd)
{
	uint64_t magic;

	return pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	       magic == CST_AREA_MAGIC;
}

/* ---- the area as it was left ----------------------------------------------
 */

/* How many slots of a chunk that was not handed over are written. */
static uint32_t n_written(struct area *a, uint32_t chunk)
{
	return search_while(i, CST_CHUNK_RECORDS, area_time(a, chunk, i));
}

/* Nobody writes any more: all chunks are handed over.  Returns the time of the
 * last record. */
static uint64_t hand_over(struct area *a)
{
	uint64_t last = a->head->last_ticks;

	for (uint32_t i = 0; i < a->n_chunks; i++) {
		struct cst_chunk *c = &a->chunks[i];
		uint64_t time;
		uint32_t n;

		if (c->state == CST_CHUNK_READ)
			c->state = CST_CHUNK_FULL;
		if (c->state == CST_CHUNK_OPEN) {
			c->state = CST_CHUNK_FULL;
			c->next = 0; /* the reader looks for itself */
		}
		if (c->state != CST_CHUNK_FULL)
			continue;
		n = c->next && c->next <= CST_CHUNK_RECORDS ? c->next
							    : n_written(a, i);
		time = n ? area_time(a, i, n - 1) : 0;
		if (time > last)
			last = time;
	}
	a->head->n_waiting = 0;
	return last;
}

/* ---- from area to trace ---------------------------------------------------
 */

/* Computes the clock's rate from the two moments that the program noted, or
 * else from this machine's clock. */
static void rate(const struct cst_area *head, uint32_t *mult, uint32_t *shift)
{
	uint64_t ns = head->last_ns - head->first_ns;
	uint64_t ticks = head->last_ticks - head->first_ticks;

	if (head->last_ns < head->first_ns + SHORT_NS || !ticks ||
	    ns / ticks >= MOST_TICK_NS || ticks / ns >= MOST_TICK_NS) {
		clock_rate(mult, shift);
		return;
	}
	*shift = RATE_SHIFT;
	*mult = (uint32_t)(((unsigned __int128)ns << RATE_SHIFT) / ticks);
	/* Ticks longer than a nanosecond may not fit. */
	while (!*mult || ((unsigned __int128)ns << *shift) / ticks > UINT32_MAX)
		*mult = (uint32_t)(((unsigned __int128)ns << --*shift) / ticks);
}

static int open_writer(struct cst_recorder *r, struct cst_error *err)
{
	const struct cst_area *head = r->area->head;
	struct writer_options options = {
		.start_ticks = head->first_ticks,
		.start_wall_ns = head->first_wall_ns,
	};
	int status;

	rate(head, &options.ns_mult, &options.ns_shift);
	r->start_ticks = r->calls.begin_ticks = head->first_ticks;
	r->live.rows.ns_mult = options.ns_mult;
	r->live.rows.ns_shift = options.ns_shift;
	status = writer_open(&options, r->names, &r->writer, err);
	if (status < 0)
		return status;
	r->calls.writer = r->writer;
	r->n_traces = 1;
	return 0;
}

static int take_all(struct cst_recorder *r, const char *path,
		    struct cst_trace **out, struct cst_error *err)
{
	struct cst_losses losses;
	uint64_t end = hand_over(r->area);
	int fd = -1, status;

	while (recorder_round(r, 1) > 0)
		;
	thread_ends_mark_ended(r);
	thread_ends_unwind(r);
	recorder_tell_modules(r, 1);
	writer_set_end(r->writer, pauses_skip(&r->pauses, end));
	process_ends_tell(r);
	losses = recorder_losses(r);
	writer_set_losses(r->writer, &losses);
	status = writer_close(take(r->writer), &fd, err);
	r->calls.writer = NULL;
	return status < 0 ? status : trace_open(fd, path, out, err);
}

int rawarea_load(int fd, const char *path, struct cst_trace **out,
		 struct cst_error *err)
{
	struct cst_recorder *r = calloc(1, sizeof(*r));
	struct cst_trace *t = NULL;
	int status;

	if (!r)
		return cst_fail_memory(err);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->named, NULL);
	status = area_open_file(fd, path, &r->area, err);
	if (status == 0)
		status = recorder_init_stages(r, err);
	if (status == 0)
		status = open_writer(r, err);
	if (status == 0 && r->area->head->ahead == CST_AHEAD_MADE)
		copies_want(&r->sites,
			    &(struct cst_values){.args = 1, .results = 1},
			    NULL);
	if (status == 0)
		status = take_all(r, path, &t, err);
	if (status == 0 && r->area->is_short) {
		cst_trace_free(take(t));
		status = area_is_short(path, err);
	}
	if (status == 0) {
		t->status.losses = recorder_losses(r);
		t->status.n_orphans = r->calls.n_orphans;
		t->status.n_records = r->reader.n_records;
		*out = t;
	}
	cst_recorder_close(r);
	return status;
}
