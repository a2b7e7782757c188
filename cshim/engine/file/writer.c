/* SPDX-License-Identifier: MIT
 *
 * Whatever a CALLS block refers to (functions, sites, threads, lanes) is put
 * out before it, so that a file cut anywhere can be read up to there.
 */
#include "file/flight.h"
#include "base/array.h"
#include "file/writer_parts.h"
#include "file/writer_samples.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { SOME = 1 };

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

void writer_put_plain(struct writer *w, enum block_kind kind, struct bytes *raw,
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
		writer_put_plain(w, kind, &w->plain, WRITER_PLAIN_SIZE);
	}
}

static void put_names(struct writer *w, enum block_kind kind,
		      record_put_fn function, record_put_fn site)
{
	const struct names *n = w->names;

	put_all(w, kind, function, n->dirty_functions, n->n_dirty_functions);
	put_all(w, kind, site, n->dirty_sites, n->n_dirty_sites);
	writer_put_plain(w, kind, &w->plain, SOME);
}

void writer_put_people(struct writer *w)
{
	writer_put_plain(w, BLOCK_THREADS, &w->people, SOME);
	writer_put_plain(w, BLOCK_MODULES, &w->modules, SOME);
	if (!w->names->n_dirty_functions && !w->names->n_dirty_sites)
		return;
	put_names(w, BLOCK_NAMES, meta_put_function, meta_put_site);
	put_names(w, BLOCK_PLACES, meta_put_function_place,
		  meta_put_site_place);
	put_all(w, BLOCK_SIZES, meta_put_size, w->names->dirty_functions,
		w->names->n_dirty_functions);
	writer_put_plain(w, BLOCK_SIZES, &w->plain, SOME);
	put_all(w, BLOCK_TAILS, meta_put_tail, w->names->dirty_sites,
		w->names->n_dirty_sites);
	writer_put_plain(w, BLOCK_TAILS, &w->plain, SOME);
	names_clean(w->names);
}

/* Near its limit the file is for calls, not for haste. */
static int has_plenty(const struct writer *w)
{
	return !w->limit_bytes || w->spool.size < w->limit_bytes / 2;
}

void writer_put_calls(struct writer *w, struct lane *l)
{
	if (!l->n && !l->n_late)
		return;
	assert(l->writer == w && l->index < w->n_lanes);
	writer_put_people(w);
	w->info.len = w->data.len = 0;
	packer_hurry(w->packer, has_plenty(w) ? w->haste : HASTE_NONE);
	if (!w->spool.failed_errno &&
	    packer_pack(w->packer, l, &w->info, &w->data) < 0)
		w->info.failed = 1;
	put_block(w, BLOCK_CALLS);
	if (w->spool.failed_errno)
		w->losses.n_limit += l->n;
	lane_begin_block(l);
	w->is_changed = 1;
}

/* ---- threads ------------------------------------------------------------ */

static void put_thread(struct writer *w, uint32_t index)
{
	meta_put_thread(&w->people, index, &w->threads[index]);
	writer_put_plain(w, BLOCK_THREADS, &w->people, WRITER_PLAIN_SIZE);
	w->is_changed = 1;
}

int writer_thread(struct writer *w, uint32_t process, uint32_t pid,
		  uint32_t ordinal, uint32_t tid, const char *name)
{
	struct thread_record *t;

	if (array_room(&w->threads, &w->cap_threads, w->n_threads + 1ull) < 0)
		return CST_MEMORY;
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
	meta_put_module(&w->modules, m);
}

static void put_end(struct writer *w)
{
	w->losses.is_limit_reached = (uint32_t)w->is_full;
	meta_put_end(&w->plain, w->end_ticks, &w->losses);
	writer_put_plain(w, BLOCK_END, &w->plain, SOME);
	w->is_changed = 0;
}

static void writer_free(struct writer *w)
{
	for (uint32_t i = 0; i < w->n_lanes; i++) {
		lane_release(w->lanes[i]);
		free(w->lanes[i]);
	}
	free(w->lanes);
	free(w->threads);
	packer_free(w->packer);
	spool_release(&w->spool);
	index_release(&w->index);
	bytes_release(&w->people);
	bytes_release(&w->pauses);
	bytes_release(&w->ends);
	bytes_release(&w->modules);
	bytes_release(&w->stacks);
	bytes_release(&w->samples);
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
	w->flight_bytes = options->flight_bytes;
	w->end_ticks = options->start_ticks;
	w->packer = packer_new();
	if (!w->packer)
		status = cst_fail_memory(err);
	else if (options->flight_bytes)
		status = spool_open_flight(&w->spool, options->path,
					   options->dir, options->flight_bytes,
					   err);
	else
		status = spool_open(&w->spool, options->path, options->dir,
				    options->cache_name, err);
	if (status < 0) {
		writer_free(w);
		return status;
	}
	meta_put_meta(&w->plain, options);
	writer_put_plain(w, BLOCK_META, &w->plain, SOME);
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
	writer_put_plain(w, BLOCK_PAUSES, &w->pauses, WRITER_PLAIN_SIZE);
}

void writer_process_end(struct writer *w, uint32_t process, uint64_t at)
{
	bytes_put_varint(&w->ends, process);
	bytes_put_varint(&w->ends, at);
}

int writer_flush(struct writer *w, struct cst_error *err)
{
	for (uint32_t i = 0; i < w->n_lanes; i++)
		writer_put_calls(w, w->lanes[i]);
	writer_put_people(w);
	writer_put_samples(w);
	writer_put_plain(w, BLOCK_PAUSES, &w->pauses, SOME);
	writer_put_plain(w, BLOCK_ENDS, &w->ends, SOME);
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
	return w->losses.n_limit;
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

char *writer_take_cache_path(struct writer *w)
{
	return take(w->spool.cache_path);
}

int writer_outlives_us(const struct writer *w)
{
	return w->spool.is_named;
}

uint32_t writer_n_waiting(const struct writer *w)
{
	uint32_t n = 0;

	n += w->samples.len > 0;
	for (uint32_t i = 0; i < w->n_lanes && !w->is_full; i++)
		n += w->lanes[i]->n || w->lanes[i]->n_late;
	return n;
}

void writer_set_end(struct writer *w, uint64_t end_ticks)
{
	w->is_changed |= w->end_ticks != end_ticks;
	w->end_ticks = end_ticks;
}

void writer_set_losses(struct writer *w, const struct cst_losses *l)
{
	w->losses = *l;
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
