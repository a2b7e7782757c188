/* SPDX-License-Identifier: MIT
 *
 * The lanes: how many calls each may hold before they go to the file.
 */
#include "file/writer_parts.h"
#include "base/array.h"

#include <stdlib.h>

enum {
	FIRST_CALLS = 64,
	/* Calls that all lanes together may hold: 20 MiB. */
	MOST_CALLS = 512 << 10,
	MOST_LATE = 8192,
	/* What a call takes in the file, in a small block and at worst. */
	BYTES_PER_CALL = 12,
	FLIGHT_BLOCKS = 8,
};

struct lane *writer_lane(struct writer *w, uint32_t process, uint32_t thread,
			 uint32_t ordinal)
{
	struct lane *l;

	if (array_room(&w->lanes, &w->cap_lanes, w->n_lanes + 1ull) < 0)
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	lane_begin_block(l);
	l->tail_seq = NO_SEQ;
	l->writer = w;
	l->index = w->n_lanes;
	w->lanes[w->n_lanes++] = l;
	meta_put_lane(&w->people, l->index, process, thread, ordinal);
	writer_put_plain(w, BLOCK_THREADS, &w->people, WRITER_PLAIN_SIZE);
	return l;
}

/* Too many lanes hold calls: write those of the largest other ones. */
static void writer_shrink(struct writer *w, const struct lane *asking)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < w->n_lanes; i++)
		if (w->lanes[i] != asking && w->lanes[i]->cap > largest)
			largest = w->lanes[i]->cap;
	for (uint32_t i = 0; largest && i < w->n_lanes; i++) {
		struct lane *l = w->lanes[i];

		if (l == asking || l->cap != largest)
			continue;
		writer_put_calls(w, l);
		w->n_room -= l->cap;
		lane_shrink(l);
	}
}

/* What the lanes may hold so that it fits into the file, too. */
static uint64_t most_calls(const struct writer *w)
{
	uint64_t n;

	if (!w->limit_bytes)
		return MOST_CALLS;
	if (w->spool.size >= w->limit_bytes)
		return 0;
	n = (w->limit_bytes - w->spool.size) / BYTES_PER_CALL;
	return n < MOST_CALLS ? n : MOST_CALLS;
}

static int lane_grow(struct lane *l)
{
	struct writer *w = l->writer;
	uint32_t more = l->cap ? l->cap : FIRST_CALLS;

	if (w->n_room + more > most_calls(w))
		writer_shrink(w, l);
	if (w->limit_bytes && w->n_room + more > most_calls(w))
		return CST_MEMORY;
	if (lane_resize(l, l->cap + more) < 0)
		return CST_MEMORY;
	w->n_room += more;
	return 0;
}

/* Write what the lane holds.  Near the limit its next block begins small, and
 * what is left for not even that is the end. */
static void lane_empty(struct lane *l)
{
	struct writer *w = l->writer;

	writer_put_calls(w, l);
	if (w->n_room <= most_calls(w))
		return;
	w->n_room -= l->cap;
	lane_shrink(l);
	if (!w->is_full && lane_grow(l) < 0)
		w->is_full = 1;
}

/* The newest calls go whole blocks at a time: a flight has some of them. */
static uint32_t most_in_block(const struct writer *w)
{
	uint64_t n = w->flight_bytes / FLIGHT_BLOCKS / BYTES_PER_CALL;

	return w->flight_bytes && n < CALLS_PER_BLOCK ? (uint32_t)n
						      : CALLS_PER_BLOCK;
}

/* Room for one more call. */
static int lane_room(struct lane *l)
{
	struct writer *w = l->writer;

	if (l->n < l->cap)
		return 0;
	if (!w->is_full && (!l->cap || l->cap < most_in_block(w)) &&
	    lane_grow(l) == 0)
		return 0;
	if (!w->is_full && (l->n || w->limit_bytes))
		lane_empty(l);
	if (!w->is_full && l->n < l->cap)
		return 0;
	/* What waits in the lane stays there for the last flush, unless it
	 * was lost by now. */
	w->losses.n_limit++;
	return CST_FAILED;
}

int lane_prepare(struct lane *l, const struct lane_entry *e)
{
	if (lane_room(l) < 0)
		return CST_FAILED;
	lane_note(l, e);
	return 0;
}

void lane_end_late(struct lane *l, uint64_t seq, uint64_t end_ticks,
		   enum call_end end)
{
	struct late_end late = {
		.seq = seq, .end_ticks = end_ticks, .end = (uint8_t)end};

	if (seq >= l->first || l->writer->spool.failed_errno)
		return;
	if (l->n_late == MOST_LATE)
		writer_put_calls(l->writer, l);
	lane_add_late(l, &late);
}

void lane_write(struct lane *l)
{
	writer_put_calls(l->writer, l);
}

void lane_keep_values(struct lane *l, uint64_t seq, const void *data,
		      uint32_t n, int is_result)
{
	lane_add_values(l, seq, data, n, is_result);
	lane_write_many_values(l);
}

void lane_keep_noted(struct lane *l, uint64_t seq, size_t at, int is_result)
{
	lane_note_values(l, seq, at, is_result);
	lane_write_many_values(l);
}
