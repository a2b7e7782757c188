/* SPDX-License-Identifier: MIT
 *
 * One pass over the file's blocks.  The calls themselves stay packed: of a
 * CALLS block only head and info are read, so a gigabyte is a few thousand
 * small reads.
 */
#include "trace/loader.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/io.h"
#include "base/outfile.h"
#include "file/index.h"
#include "file/unpack.h"
#include "trace/finish.h"
#include "trace/meta_read.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <zstd.h>

enum {
	AHEAD = 4096,	      /* usually holds head and info */
	PLAIN_MAX = 16 << 20, /* what a plain block may hold unpacked */
};

/* The pass, and its buffers. */
struct scan {
	struct cst_trace *t;
	uint64_t at, end;
	uint64_t n_taken; /* blocks */
	uint64_t reached; /* by the index */
	struct block_head head;
	struct bytes info, data, raw;
	struct cst_error *err;
};

int loader_damaged(const struct cst_trace *t, struct cst_error *err,
		   const char *why)
{
	return cst_fail(CST_BAD_FILE, err, "'%.300s' is damaged: %s", t->path,
			why);
}

int loader_read(const struct cst_trace *t, uint64_t at, void *out, size_t n)
{
	return io_read_at(t->fd, out, n, at) == (int64_t)n ? 0 : CST_FAILED;
}

static int scan_damaged(struct scan *s, const char *what)
{
	return cst_fail(CST_BAD_FILE, s->err,
			"'%.300s' is damaged: %s in the block at byte %llu",
			s->t->path, what, (unsigned long long)s->at);
}

static int scan_file_head(struct scan *s)
{
	uint8_t head[BLOCK_FILE_HEAD];
	const char *path = s->t->path;

	if (s->end < sizeof(head) ||
	    loader_read(s->t, 0, head, sizeof(head)) < 0 ||
	    memcmp(head, BLOCK_FILE_MAGIC, 8))
		return cst_fail(CST_BAD_FILE, s->err,
				"'%.300s' is not a cstrace trace", path);
	if (get_u32(head + 8) != BLOCK_FORMAT)
		return cst_fail(CST_BAD_FILE, s->err,
				"'%.300s' was made by another version (format "
				"%u; this cstrace reads %u)",
				path, get_u32(head + 8), BLOCK_FORMAT);
	s->at = sizeof(head);
	return 0;
}

static int take_late(struct scan *s, const struct pack_info *info,
		     struct cursor *c)
{
	struct cst_trace *t = s->t;

	for (uint32_t i = 0; i < info->n_late; i++) {
		const char *result = NULL;
		struct late_end late;

		if (pack_late_get(c, &late) < 0 || !late.seq ||
		    late.seq > info->first_seq)
			return scan_damaged(s, "a late end");
		if (array_room(&t->late, &t->cap_late, t->n_late + 1ull) < 0)
			return cst_fail_memory(s->err);
		if (late.n_result)
			result = arena_intern(t->names->arena,
					      (const char *)late.result,
					      late.n_result);
		t->late[t->n_late++] = (struct trace_late){
			.seq = info->first_seq - late.seq,
			.end_ticks = late.end_ticks,
			.lane = info->lane,
			.end = late.end,
			.thrown = late.thrown,
			.result = result,
			.n_result = result ? late.n_result : 0,
		};
		t->status.n_unwound += late.end == CALL_UNWOUND;
	}
	return 0;
}

static void count_calls(struct cst_trace *t, const struct pack_info *info)
{
	t->status.n_calls += info->n_calls - info->n_seeds - info->n_notes;
	t->n_notes += info->n_notes;
	t->status.n_open += info->n_calls - info->n_closed;
	t->status.n_unwound += info->n_unwound;
	t->status.n_seeds += info->n_seeds;
}

static int take_calls(struct scan *s)
{
	struct cst_trace *t = s->t;
	struct cursor c = {s->info.data, s->info.data + s->info.len, 0};
	struct trace_block block = {.next = NO_BLOCK};
	struct trace_lane *lane;

	if (pack_info_get(&c, &block.info) < 0 ||
	    block.info.lane >= t->n_lanes || block.info.thread >= t->n_threads)
		return scan_damaged(s, "bad numbers");
	lane = &t->lanes[block.info.lane];
	if (block.info.first_seq != lane->n_calls)
		return scan_damaged(s, "a gap before the calls");
	count_calls(t, &block.info);
	lane->n_calls += block.info.n_calls;
	if (block.info.n_calls) {
		block.data_at = s->at + BLOCK_HEAD + s->head.info_size;
		block.data_size = s->head.data_size;
		if (array_room(&t->blocks, &t->cap_blocks, t->n_blocks + 1ull) <
		    0)
			return cst_fail_memory(s->err);
		if (lane->last_block == NO_BLOCK)
			lane->first_block = t->n_blocks;
		else
			t->blocks[lane->last_block].next = t->n_blocks;
		lane->last_block = t->n_blocks;
		t->blocks[t->n_blocks++] = block;
	}
	return take_late(s, &block.info, &c);
}

/* The contents of a plain block, into out. */
static int plain_unpack(struct scan *s, struct bytes *out)
{
	struct cursor c = {s->info.data, s->info.data + s->info.len, 0};
	uint64_t raw_size = cursor_varint_max(&c, PLAIN_MAX);
	uint64_t data_at = s->at + BLOCK_HEAD + s->head.info_size;
	uint8_t *data, *raw;
	size_t size;

	s->data.len = out->len = 0;
	/* One more: nothing at all would look like no memory. */
	data = bytes_reserve(&s->data, s->head.data_size + 1ull);
	raw = bytes_reserve(out, raw_size + 1);
	if (!data || !raw)
		return cst_fail_memory(s->err);
	if (c.failed || loader_read(s->t, data_at, data, s->head.data_size) < 0)
		return scan_damaged(s, "unreadable data");
	size = ZSTD_decompress(raw, raw_size, data, s->head.data_size);
	if (ZSTD_isError(size) || size != raw_size)
		return scan_damaged(s, "bad data");
	out->len = size;
	return 0;
}

static int take_plain(struct scan *s)
{
	int status = plain_unpack(s, &s->raw);
	struct cursor c = {s->raw.data, s->raw.data + s->raw.len, 0};

	if (status < 0)
		return status;
	status = meta_read_block(s->t, s->head.kind, &c);
	if (status == CST_BAD_FILE)
		return scan_damaged(s, "bad contents");
	return status < 0 ? cst_fail_memory(s->err) : 0;
}

/* 1: there is a whole block at s->at, its head and info are read. 0: the file
 * ends here, or within the block. */
static int scan_block(struct scan *s)
{
	uint64_t left = s->end - s->at;
	size_t ahead = left < AHEAD ? (size_t)left : AHEAD;
	uint8_t text[AHEAD];

	if (left < BLOCK_HEAD)
		return 0;
	if (loader_read(s->t, s->at, text, ahead) < 0)
		return scan_damaged(s, "cannot be read");
	if (block_head_get(text, &s->head) < 0)
		return scan_damaged(s, "bad head");
	if ((uint64_t)s->head.info_size + s->head.data_size > left - BLOCK_HEAD)
		return 0;
	s->info.len = 0;
	if (!bytes_reserve(&s->info, s->head.info_size + 1ull))
		return cst_fail_memory(s->err);
	if (s->head.info_size <= ahead - BLOCK_HEAD)
		memcpy(s->info.data, text + BLOCK_HEAD, s->head.info_size);
	else if (loader_read(s->t, s->at + BLOCK_HEAD, s->info.data,
			     s->head.info_size) < 0)
		return scan_damaged(s, "cannot be read");
	s->info.len = s->head.info_size;
	if (block_crc(s->info.data, s->info.len) != s->head.info_crc)
		return scan_damaged(s, "bad checksum");
	return 1;
}

/* The block whose head and info were read. */
static int scan_take(struct scan *s)
{
	int status = 0;

	if (outfile_is_interrupted())
		return cst_fail(CST_INTERRUPTED, s->err, "interrupted");
	if (s->n_taken++ == 0 && s->head.kind != BLOCK_META)
		return scan_damaged(s, "no description");
	if (s->head.kind == BLOCK_CALLS)
		status = take_calls(s);
	else if (s->head.kind != BLOCK_INDEX && s->head.kind != BLOCK_SEAL)
		status = take_plain(s);
	s->at += BLOCK_HEAD + s->head.info_size + s->head.data_size;
	return status;
}

static int scan_blocks(struct scan *s)
{
	int got;

	while ((got = scan_block(s)) == 1) {
		int status = scan_take(s);

		if (status < 0)
			return status;
	}
	if (got < 0)
		return got;
	if (s->n_taken == 0)
		return loader_damaged(s->t, s->err,
				      "it ends before its first block");
	s->t->size = s->at;
	s->t->is_cut = s->at < s->end;
	s->t->is_sealed = !s->t->is_cut && s->head.kind == BLOCK_SEAL;
	return 0;
}

/* ---- by the index ------------------------------------------------------- */

/* Where the last piece lies; 0: the file is not sealed. */
static uint64_t scan_seal(struct scan *s)
{
	uint64_t at = s->end - INDEX_SEAL_SIZE;

	if (s->end < BLOCK_FILE_HEAD + INDEX_SEAL_SIZE)
		return 0;
	s->at = at;
	if (scan_block(s) != 1 || s->head.kind != BLOCK_SEAL ||
	    s->info.len != INDEX_SEAL_INFO || s->head.data_size)
		return 0;
	return get_u64(s->info.data);
}

/* The pieces' places, the last one first, and where the piece before each
 * begins. */
static int scan_pieces(struct scan *s, uint64_t at, struct bytes *pieces)
{
	uint64_t before = s->end - INDEX_SEAL_SIZE;

	while (at) {
		struct cursor c;

		if (at >= before)
			return CST_BAD_FILE;
		s->at = before = at;
		if (scan_block(s) != 1 || s->head.kind != BLOCK_INDEX)
			return CST_BAD_FILE;
		bytes_put(pieces, &at, sizeof(at));
		c = (struct cursor){s->info.data, s->info.data + s->info.len,
				    0};
		cursor_varint(&c);
		at = cursor_varint(&c);
		if (c.failed)
			return CST_BAD_FILE;
	}
	return pieces->failed ? CST_MEMORY : 0;
}

/* All blocks that one piece tells of. */
static int scan_piece(struct scan *s, uint64_t at, struct bytes *piece)
{
	struct cursor c;
	uint64_t entry = 0;

	s->at = at;
	if (scan_block(s) != 1 || plain_unpack(s, piece) < 0)
		return CST_BAD_FILE;
	c = (struct cursor){piece->data, piece->data + piece->len, 0};
	while (c.p < c.end) {
		const uint8_t *info;

		/* Each lies behind the one before it. */
		if (index_get(&c, &entry, &s->head, &info) < 0 ||
		    entry < s->reached || entry > at ||
		    (uint64_t)s->head.info_size + s->head.data_size +
				    BLOCK_HEAD >
			    at - entry)
			return CST_BAD_FILE;
		s->info.len = 0;
		bytes_put(&s->info, info, s->head.info_size);
		if (s->info.failed)
			return CST_MEMORY;
		s->at = entry;
		if (scan_take(s) < 0)
			return CST_BAD_FILE;
		s->reached = s->at;
	}
	return 0;
}

/* 1: that was all; 0: there is no index, or one that does not hold. */
static int scan_index(struct scan *s)
{
	struct bytes pieces = {0}, piece = {0};
	uint64_t last = scan_seal(s);
	int is_good = last && scan_pieces(s, last, &pieces) == 0;

	for (size_t n = pieces.len / sizeof(last); is_good && n-- > 0;) {
		uint64_t at;

		memcpy(&at, pieces.data + n * sizeof(at), sizeof(at));
		is_good = scan_piece(s, at, &piece) == 0;
	}
	bytes_release(&pieces);
	bytes_release(&piece);
	s->t->size = s->end;
	s->t->is_sealed = 1;
	return is_good && s->n_taken;
}

/* ---- the whole ---------------------------------------------------------- */

static int loader_begin(struct cst_trace *t, struct cst_error *err)
{
	*t = (struct cst_trace){.fd = t->fd,
				.path = t->path,
				.version = "",
				.host = "",
				.command = "",
				.module = ""};
	t->names = names_new();
	return t->names ? 0 : cst_fail_memory(err);
}

static void loader_drop(struct cst_trace *t)
{
	names_free(t->names);
	free(t->threads);
	free(t->lanes);
	free(t->blocks);
	free(t->lane_blocks);
	free(t->late);
	free(t->pauses);
	free(t->ends);
	free(t->modules);
	samples_release(&t->samples);
}

/* Scans by the index or, where that cannot be used, from block to block. */
static int scan_all(struct scan *s)
{
	int status = loader_begin(s->t, s->err);

	s->reached = BLOCK_FILE_HEAD;
	if (status < 0 || scan_index(s))
		return status;
	loader_drop(s->t);
	s->at = BLOCK_FILE_HEAD;
	s->n_taken = 0;
	status = loader_begin(s->t, s->err);
	return status < 0 ? status : scan_blocks(s);
}

int loader_scan(struct cst_trace *t, struct cst_error *err)
{
	struct scan s = {.t = t, .err = err};
	struct stat st;
	int status;

	if (fstat(t->fd, &st) < 0)
		return cst_fail_sys(err, "cannot read '%.300s'", t->path);
	if (!S_ISREG(st.st_mode))
		return cst_fail(CST_BAD_FILE, err,
				"'%.300s' is not a regular file", t->path);
	s.end = (uint64_t)st.st_size;
	status = scan_file_head(&s);
	if (status == 0)
		status = scan_all(&s);
	bytes_release(&s.info);
	bytes_release(&s.data);
	bytes_release(&s.raw);
	if (status < 0)
		return status;
	return loader_settle(t, err);
}

void loader_release(struct cst_trace *t)
{
	guard_close(&t->fd);
	loader_drop(t);
}
