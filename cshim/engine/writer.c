/* SPDX-License-Identifier: MIT
 *
 * Whatever a CALLS block refers to (functions, sites, threads, lanes) is put
 * out before it, so that a file cut anywhere can be read up to there.
 */
#include "writer.h"
#include "flight.h"
#include "index.h"
#include "records.h"
#include "spool.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum {
	FIRST_CALLS = 64,
	/* Calls that all lanes together may hold: 20 MiB. */
	MOST_CALLS = 512 << 10,
	MOST_LATE = 8192,
	/* What one block of names or threads may reach before it is closed. */
	PLAIN_SIZE = 256 << 10,
	SOME = 1,
};

struct writer {
	struct spool spool;
	struct index index;
	struct names *names;
	struct packer *packer;
	struct lane **lanes;
	uint32_t n_lanes, cap_lanes;
	uint32_t n_lane_indexes;
	struct thread_record *threads;
	uint32_t n_threads, cap_threads;
	uint64_t n_room; /* sum of the lanes' cap */
	uint64_t limit_bytes;
	struct cst_status_report missing; /* of it what is */
	uint64_t end_ticks;
	int is_full, is_changed;
	enum haste haste;
	struct bytes people, pauses, ends, modules; /* not yet written */
	struct bytes info, data, plain;
};

/* ---- blocks ------------------------------------------------------------- */

static void put_index(struct writer *w);

static void put_block(struct writer *w, enum block_kind kind)
{
	if (kind != BLOCK_INDEX && kind != BLOCK_SEAL)
		index_add(&w->index, w->spool.size, kind, &w->info, &w->data);
	spool_put(&w->spool, kind, &w->info, &w->data);
	w->info.len = w->data.len = 0;
	if (w->spool.failed_errno ||
	    (w->limit_bytes && w->spool.size >= w->limit_bytes))
		w->is_full = 1;
	if (index_is_due(&w->index))
		put_index(w);
}

static void put_index(struct writer *w)
{
	struct bytes *piece = &w->index.pending;
	uint64_t at = w->spool.size;

	index_piece_info(&w->index, &w->info);
	packer_hurry(w->packer, HASTE_NONE);
	packer_compress(w->packer, piece->data, piece->len, &w->data);
	index_piece_written(&w->index, at);
	put_block(w, BLOCK_INDEX);
}

/* A file that something is missing from is read block by block. */
static void put_seal(struct writer *w)
{
	if (w->index.pending.failed || w->spool.failed_errno)
		return;
	put_index(w);
	index_seal_info(&w->index, &w->info);
	put_block(w, BLOCK_SEAL);
	spool_flush(&w->spool);
}

/* Put out `raw` as a block of its own and empty it, if there is enough. */
static void put_plain(struct writer *w, enum block_kind kind, struct bytes *raw,
		      uint64_t enough)
{
	if (raw->len < enough)
		return;
	bytes_put_varint(&w->info, raw->len);
	packer_hurry(w->packer, HASTE_NONE); /* it is little */
	packer_compress(w->packer, raw->data, raw->len, &w->data);
	put_block(w, kind);
	raw->len = 0;
}

static void put_all(struct writer *w, enum block_kind kind, record_put_fn put,
		    const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		put(&w->plain, w->names, ids[i]);
		put_plain(w, kind, &w->plain, PLAIN_SIZE);
	}
}

static void put_names(struct writer *w, enum block_kind kind,
		      record_put_fn function, record_put_fn site)
{
	const struct names *n = w->names;

	put_all(w, kind, function, n->dirty_functions, n->n_dirty_functions);
	put_all(w, kind, site, n->dirty_sites, n->n_dirty_sites);
	put_plain(w, kind, &w->plain, SOME);
}

static void put_people(struct writer *w)
{
	put_plain(w, BLOCK_THREADS, &w->people, SOME);
	put_plain(w, BLOCK_MODULES, &w->modules, SOME);
	if (!w->names->n_dirty_functions && !w->names->n_dirty_sites)
		return;
	put_names(w, BLOCK_NAMES, records_put_function, records_put_site);
	put_names(w, BLOCK_PLACES, records_put_function_place,
		  records_put_site_place);
	names_clean(w->names);
}

/* Near its limit the file is for calls, not for haste. */
static int has_plenty(const struct writer *w)
{
	return !w->limit_bytes || w->spool.size < w->limit_bytes / 2;
}

/* The lane's calls go to the file, or are counted as lost. */
static void put_calls(struct writer *w, struct lane *l)
{
	if (!l->n && !l->n_late)
		return;
	put_people(w);
	w->info.len = w->data.len = 0;
	packer_hurry(w->packer, has_plenty(w) ? w->haste : HASTE_NONE);
	if (!w->spool.failed_errno &&
	    packer_pack(w->packer, l, &w->info, &w->data) < 0)
		w->info.failed = 1;
	put_block(w, BLOCK_CALLS);
	if (w->spool.failed_errno)
		w->missing.n_lost_limit += l->n;
	lane_begin_block(l);
	w->is_changed = 1;
}

/* ---- lanes -------------------------------------------------------------- */

struct lane *writer_lane(struct writer *w, uint32_t process, uint32_t thread,
			 uint32_t ordinal)
{
	struct lane *l;

	if (w->n_lanes == w->cap_lanes) {
		uint32_t cap = w->cap_lanes ? w->cap_lanes * 2 : 16;
		void *p = realloc(w->lanes, cap * sizeof(*w->lanes));

		if (!p)
			return NULL;
		w->lanes = p;
		w->cap_lanes = cap;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	lane_begin_block(l);
	l->tail_seq = NO_SEQ;
	l->writer = w;
	l->index = w->n_lane_indexes++;
	l->slot = w->n_lanes;
	w->lanes[w->n_lanes++] = l;
	records_put_lane(&w->people, l->index, process, thread, ordinal);
	put_plain(w, BLOCK_THREADS, &w->people, PLAIN_SIZE);
	return l;
}

static void lane_free(struct lane *l)
{
	l->writer->n_room -= l->cap;
	lane_release(l);
	free(l);
}

void writer_lane_end(struct writer *w, struct lane *l)
{
	if (!l)
		return;
	put_calls(w, l);
	w->lanes[l->slot] = w->lanes[--w->n_lanes];
	w->lanes[l->slot]->slot = l->slot;
	lane_free(l);
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
		put_calls(w, l);
		w->n_room -= l->cap;
		lane_shrink(l);
	}
}

static int lane_grow(struct lane *l)
{
	uint32_t more = l->cap ? l->cap : FIRST_CALLS;

	if (l->writer->n_room + more > MOST_CALLS)
		writer_shrink(l->writer, l);
	if (lane_resize(l, l->cap + more) < 0)
		return -1;
	l->writer->n_room += more;
	return 0;
}

/* Room for one more call. */
static int lane_room(struct lane *l)
{
	struct writer *w = l->writer;

	if (l->n < l->cap)
		return 0;
	if (!w->is_full && l->cap < CALLS_PER_BLOCK && lane_grow(l) == 0)
		return 0;
	if (!w->is_full && l->n)
		put_calls(w, l);
	if (!w->is_full && l->n < l->cap)
		return 0;
	/* What waits in the lane stays there for the last flush, unless it
	 * was lost by now. */
	w->missing.n_lost_limit++;
	return -1;
}

int lane_prepare(struct lane *l, const struct lane_entry *e)
{
	if (lane_room(l) < 0)
		return -1;
	lane_note(l, e);
	return 0;
}

void lane_end_late(struct lane *l, uint64_t seq, uint64_t end_ticks,
		   enum call_end end)
{
	struct late_end late = {seq, end_ticks, (uint8_t)end};

	if (seq >= l->first || l->writer->spool.failed_errno)
		return;
	if (l->n_late == MOST_LATE)
		put_calls(l->writer, l);
	lane_add_late(l, &late);
}

/* ---- threads ------------------------------------------------------------ */

static void put_thread(struct writer *w, uint32_t index)
{
	records_put_thread(&w->people, index, &w->threads[index]);
	put_plain(w, BLOCK_THREADS, &w->people, PLAIN_SIZE);
	w->is_changed = 1;
}

int writer_thread(struct writer *w, uint32_t process, uint32_t pid,
		  uint32_t ordinal, uint32_t tid, const char *name)
{
	struct thread_record *t;

	if (w->n_threads == w->cap_threads) {
		uint32_t cap = w->cap_threads ? w->cap_threads * 2 : 16;
		void *p = realloc(w->threads, cap * sizeof(*t));

		if (!p)
			return CST_MEMORY;
		w->threads = p;
		w->cap_threads = cap;
	}
	t = &w->threads[w->n_threads];
	*t = (struct thread_record){process, pid, ordinal, tid, ""};
	snprintf(t->name, sizeof(t->name), "%s", name ? name : "");
	put_thread(w, w->n_threads);
	return (int)w->n_threads++;
}

void writer_thread_name(struct writer *w, uint32_t thread, const char *name)
{
	struct thread_record *t = &w->threads[thread];

	if (!name || !strncmp(t->name, name, sizeof(t->name) - 1))
		return;
	snprintf(t->name, sizeof(t->name), "%s", name);
	put_thread(w, thread);
}

/* ---- the whole ---------------------------------------------------------- */

void writer_module(struct writer *w, const struct writer_module *m)
{
	records_put_module(&w->modules, m);
}

static void put_end(struct writer *w)
{
	w->missing.is_limit_reached = (uint32_t)w->is_full;
	records_put_end(&w->plain, w->end_ticks, &w->missing);
	put_plain(w, BLOCK_END, &w->plain, SOME);
	w->is_changed = 0;
}

static void writer_free(struct writer *w)
{
	for (uint32_t i = 0; i < w->n_lanes; i++)
		lane_free(w->lanes[i]);
	free(w->lanes);
	free(w->threads);
	packer_free(w->packer);
	spool_release(&w->spool);
	index_release(&w->index);
	bytes_release(&w->people);
	bytes_release(&w->pauses);
	bytes_release(&w->ends);
	bytes_release(&w->modules);
	bytes_release(&w->info);
	bytes_release(&w->data);
	bytes_release(&w->plain);
	free(w);
}

int writer_open(const struct writer_options *options, struct names *names,
		struct writer **out, struct cst_error *err)
{
	struct writer *w = calloc(1, sizeof(*w));
	int status;

	if (!w)
		return cst_fail_memory(err);
	w->spool.fd = -1;
	w->names = names;
	w->limit_bytes = options->limit_bytes;
	w->end_ticks = options->start_ticks;
	w->packer = packer_new();
	if (!w->packer)
		status = cst_fail_memory(err);
	else if (options->flight_bytes)
		status = spool_open_flight(&w->spool, options->path,
					   options->flight_bytes, err);
	else
		status = spool_open(&w->spool, options->path, options->dir,
				    options->held, err);
	if (status < 0) {
		writer_free(w);
		return status;
	}
	records_put_meta(&w->plain, options);
	put_plain(w, BLOCK_META, &w->plain, SOME);
	names_dirty(names);
	w->is_changed = 1;
	*out = w;
	return 0;
}

void writer_hurry(struct writer *w, enum haste haste)
{
	w->haste = haste;
}

void writer_pause(struct writer *w, uint64_t at, uint64_t ticks)
{
	bytes_put_varint(&w->pauses, at);
	bytes_put_varint(&w->pauses, ticks);
	w->is_changed = 1;
	put_plain(w, BLOCK_PAUSES, &w->pauses, PLAIN_SIZE);
}

void writer_process_end(struct writer *w, uint32_t process, uint64_t at)
{
	bytes_put_varint(&w->ends, process);
	bytes_put_varint(&w->ends, at);
}

int writer_flush(struct writer *w, struct cst_error *err)
{
	for (uint32_t i = 0; i < w->n_lanes; i++)
		put_calls(w, w->lanes[i]);
	put_people(w);
	put_plain(w, BLOCK_PAUSES, &w->pauses, SOME);
	put_plain(w, BLOCK_ENDS, &w->ends, SOME);
	if (w->is_changed)
		put_end(w);
	spool_flush(&w->spool);
	return w->spool.written ? 0 : spool_why(&w->spool, 0, err);
}

void writer_keep(struct writer *w)
{
	/* Room in the lanes would be taken again, and go past the limit. */
	if (!w->is_full) {
		writer_flush(w, NULL);
		return;
	}
	put_end(w);
	spool_flush(&w->spool);
}

int writer_is_full(const struct writer *w, struct cst_error *err)
{
	if (!w->is_full && !w->spool.failed_errno)
		return 0;
	spool_why(&w->spool, w->limit_bytes, err);
	return 1;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->spool.size;
}

uint64_t writer_dropped(const struct writer *w)
{
	return w->missing.n_lost_limit;
}

int writer_is_flight(const struct writer *w)
{
	return w->spool.flight != NULL;
}

int writer_save(struct writer *w, int *fd, struct cst_error *err)
{
	writer_flush(w, NULL);
	return flight_save(w->spool.flight, fd, err);
}

int writer_fd(const struct writer *w)
{
	return w->spool.fd;
}

char *writer_take_held(struct writer *w)
{
	return take(w->spool.held);
}

int writer_outlives_us(const struct writer *w)
{
	return w->spool.is_named;
}

uint32_t writer_n_waiting(const struct writer *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_lanes && !w->is_full; i++)
		n += w->lanes[i]->n || w->lanes[i]->n_late;
	return n;
}

void writer_set_end(struct writer *w, uint64_t end_ticks)
{
	w->is_changed |= w->end_ticks != end_ticks;
	w->end_ticks = end_ticks;
}

void writer_set_missing(struct writer *w, const struct cst_status_report *s)
{
	w->missing = *s;
}

int writer_close(struct writer *w, int *fd_out, struct cst_error *err)
{
	int status = writer_flush(w, err);

	put_seal(w);
	if (fd_out) {
		*fd_out = w->spool.fd;
		w->spool.fd = -1;
	}
	writer_free(w);
	return status;
}
