/* SPDX-License-Identifier: MIT
 *
 * Reads the records out of the chunks: scans their states, sorts them by thread
 * and sequence number, and goes through each thread's chunks in order.
 */
#include "area/reader.h"
#include "base/array.h"
#include "area/area_file.h"

#include "area/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* How long an interrupted hook may take to fill the slot that it took. */
enum { HOLE_PATIENCE_NS = 100000000 };

struct waiting {
	uint32_t thread, seq, chunk, is_full;
};

/* waiting[next] to waiting[end - 1] are one thread's. */
struct turn {
	uint32_t next, end;
};

struct stream {
	uint32_t next_seq;   /* of the chunk to be read */
	uint32_t n_done;     /* records of it that were read */
	uint64_t hole_since; /* ns; an empty slot in a chunk handed over */
	int had_hole;	     /* its late owner may still write into it */
};

int reader_init(struct reader *r, struct area *a, struct cst_error *err)
{
	*r = (struct reader){.area = a};
	r->waiting = calloc(CST_MAX_CHUNKS, sizeof(*r->waiting));
	r->turns = calloc(CST_MAX_CHUNKS, sizeof(*r->turns));
	if (r->waiting && r->turns)
		return 0;
	reader_release(r);
	return cst_fail_memory(err);
}

void reader_release(struct reader *r)
{
	free(r->waiting);
	free(r->turns);
	free(r->streams);
	*r = (struct reader){0};
}

static int waiting_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int reader_room(struct reader *r, uint32_t thread)
{
	if (array_room(&r->streams, &r->cap_streams, thread + 1ull) < 0)
		return CST_MEMORY;
	if (thread >= r->n_streams)
		r->n_streams = thread + 1;
	return 0;
}

static void reader_deal_turns(struct reader *r)
{
	r->n_turns = 0;
	for (uint32_t i = 0; i < r->n_waiting; i++) {
		if (!i || r->waiting[i].thread != r->waiting[i - 1].thread)
			r->turns[r->n_turns++].next = i;
		r->turns[r->n_turns - 1].end = i + 1;
	}
}

int reader_scan(struct reader *r)
{
	int n_full = 0;

	r->n_waiting = 0;
	for (uint32_t i = 0; i < r->area->n_chunks; i++) {
		const struct cst_chunk *c = &r->area->chunks[i];
		/* Pairs with the release of the writer: thread and seq are
		 * set, and in a full chunk all records that will be. */
		uint32_t state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
		struct waiting h = {
			.thread = __atomic_load_n(&c->thread, __ATOMIC_RELAXED),
			.seq = c->seq,
			.chunk = i,
			.is_full = state == CST_CHUNK_FULL};

		if (state != CST_CHUNK_OPEN && state != CST_CHUNK_FULL)
			continue;
		if (h.thread >= CST_MAX_THREADS || reader_room(r, h.thread) < 0)
			continue;
		r->waiting[r->n_waiting++] = h;
		n_full += h.is_full;
	}
	qsort(r->waiting, r->n_waiting, sizeof(*r->waiting), waiting_order);
	reader_deal_turns(r);
	return n_full;
}

static uint32_t next_written(const struct cst_record *records, uint32_t from,
			     uint32_t to)
{
	while (from < to &&
	       !__atomic_load_n(&records[from].time, __ATOMIC_ACQUIRE))
		from++;
	return from;
}

/* Nobody writes into a chunk of it that was handed over. */
static int is_copy(const struct area *a)
{
	return a->is_past || a->is_elsewhere;
}

static void stream_advance(struct reader *r, struct stream *s, uint32_t chunk)
{
	s->next_seq++;
	s->n_done = 0;
	s->hole_since = 0;
	if (!s->had_hole || is_copy(r->area))
		area_give(r->area, chunk);
	s->had_hole = 0;
}

/* An empty slot in a chunk that was handed over: its hook was interrupted
 * and will still fill it, or its thread died there.  1: look again later. */
static int stream_hole(struct reader *r, struct stream *s, uint32_t next)
{
	uint64_t now = clock_monotonic_ns();

	if (!s->hole_since)
		s->hole_since = now;
	if (!is_copy(r->area) && now - s->hole_since < HOLE_PATIENCE_NS)
		return 1;
	r->n_holes += next - s->n_done;
	s->n_done = next;
	s->hole_since = 0;
	s->had_hole = 1;
	return 0;
}

/* Records that the writer says it had in a chunk it handed over. */
static uint32_t chunk_used(const struct cst_chunk *c,
			   const struct cst_record *records)
{
	uint32_t used = __atomic_load_n(&c->next, __ATOMIC_RELAXED);
	uint32_t written = CST_CHUNK_RECORDS;

	while (written > 0 &&
	       !__atomic_load_n(&records[written - 1].time, __ATOMIC_ACQUIRE))
		written--;
	if (used > CST_CHUNK_RECORDS)
		used = CST_CHUNK_RECORDS;
	return used > written ? used : written;
}

static int is_written(const struct cst_record *r)
{
	/* Pairs with the hook's release: a record with a time is written. */
	return __atomic_load_n(&r->time, __ATOMIC_ACQUIRE) != 0;
}

/* How many records of a chunk can be readable, the first of them being so; or
 * 0: nothing (more) now. */
static uint32_t stream_run(struct reader *r, const struct waiting *h, int peek)
{
	struct stream *s = &r->streams[h->thread];
	const struct cst_record *records = area_chunk(r->area, h->chunk);
	uint32_t used = CST_CHUNK_RECORDS;

	if (!h->is_full && !peek)
		return 0;
	if (h->is_full)
		used = chunk_used(&r->area->chunks[h->chunk], records);
	if (s->n_done >= used)
		return 0;
	if (!is_written(&records[s->n_done]) &&
	    (!h->is_full ||
	     stream_hole(r, s, next_written(records, s->n_done, used))))
		return 0;
	return used - s->n_done;
}

static int is_used_up(const struct reader *r, const struct waiting *h)
{
	const struct cst_chunk *c = &r->area->chunks[h->chunk];

	return h->is_full &&
	       r->streams[h->thread].n_done >=
		       chunk_used(c, area_chunk(r->area, h->chunk));
}

int reader_next(struct reader *r, uint32_t turn, int peek, struct slice *out)
{
	for (struct turn *t = &r->turns[turn]; t->next < t->end; t->next++) {
		const struct waiting *h = &r->waiting[t->next];
		struct stream *s = &r->streams[h->thread];
		uint32_t n;

		/* An earlier one is still being waited for, or was used again
		 * by its flight. */
		if (h->seq != s->next_seq && !r->area->is_past)
			continue;
		if (h->seq != s->next_seq)
			s->n_done = 0;
		s->next_seq = h->seq;
		area_copy(r->area, h->chunk);
		n = stream_run(r, h, peek);
		if (n) {
			*out = (struct slice){
				.records = area_chunk(r->area, h->chunk) +
					   s->n_done,
				.n = n,
				.thread = h->thread,
			};
			return 1;
		}
		if (is_used_up(r, h))
			stream_advance(r, s, h->chunk);
	}
	return 0;
}

int reader_is_newest(const struct reader *r, uint32_t turn)
{
	const struct turn *t = &r->turns[turn];

	return t->next + 1 >= t->end || !r->waiting[t->next + 1].is_full;
}

void reader_done(struct reader *r, uint32_t turn, uint32_t n)
{
	const struct waiting *h = &r->waiting[r->turns[turn].next];
	struct stream *s = &r->streams[h->thread];
	const struct cst_record *first =
		area_chunk(r->area, h->chunk) + s->n_done;

	if (n && first->time < r->oldest)
		r->oldest = first->time;
	r->n_records += n;
	s->n_done += n;
	if (is_used_up(r, h)) {
		stream_advance(r, s, h->chunk);
		r->turns[turn].next++;
	}
}

uint32_t slice_count(const struct slice *s)
{
	uint32_t n = 0;

	while (n < s->n && is_written(&s->records[n]))
		n++;
	return n;
}

void reader_skip_all(struct reader *r)
{
	struct slice slice;

	reader_scan(r);
	for (uint32_t turn = 0; turn < r->n_turns; turn++) {
		while (reader_next(r, turn, 1, &slice)) {
			uint32_t n = slice_count(&slice);

			r->n_records -= n;
			reader_done(r, turn, n);
		}
	}
	area_wake(r->area);
}

void reader_reclaim(struct reader *r)
{
	for (uint32_t i = 0; i < r->area->n_chunks; i++) {
		struct cst_chunk *c = &r->area->chunks[i];
		uint32_t open = CST_CHUNK_OPEN;
		uint32_t thread = __atomic_load_n(&c->thread, __ATOMIC_RELAXED);

		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != open ||
		    thread >= CST_MAX_THREADS ||
		    !area_thread_has_ended(r->area, thread))
			continue;
		c->next = 0;
		__atomic_compare_exchange_n(&c->state, &open, CST_CHUNK_FULL, 0,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}
