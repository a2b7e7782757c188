/* SPDX-License-Identifier: MIT
 *
 * The columns come from the lane as they are written.  Each is compressed by
 * itself, because zstd gives each its own table of lengths.
 */
#include "file/pack.h"
#include "file/unpack.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

/* In a hurry, the level that takes no longer than writing what it saves: a
 * third to a half is left.  In need, one that still leaves less than 4 bytes of
 * a call that is like the last; zstd's fastest leaves nearly all. */
enum { LEVEL = 1, HURRY_LEVEL = -100, NEED_LEVEL = -500 };

/* Shorter matches are in columns by chance and cost time. */
enum { COLUMN_MATCH = 7, ANY_MATCH = 0 };

/* Results lie far behind the arguments that they mostly are like: a level with
 * a larger window finds them, and leaves a fifth less of the values. */
enum { BYTES_LEVEL = 3 };

/* Values are most of a block that has some, and mostly repeat: then a usual
 * level takes no longer than to write what it saves.  In need, values like
 * hashes leave time for this one only; where it does not halve them, they are
 * tried again after so many blocks. */
enum { VALUES_NEED_LEVEL = -3, VALUES_RATIO = 2, BLOCKS_BETWEEN = 16 };

struct packer {
	ZSTD_CCtx *zstd;
	struct bytes raw; /* what is compressed next */
	enum haste haste;
	int level;
	uint32_t n_loosely; /* blocks of values, until one is tried again */
};

static void set_level(struct packer *p, int level)
{
	if (p->level != level)
		ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level);
	p->level = level;
}

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd) {
		free(p);
		return NULL;
	}
	set_level(p, LEVEL);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, COLUMN_MATCH);
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	bytes_release(&p->raw);
	free(p);
}

void packer_hurry(struct packer *p, enum haste haste)
{
	const int levels[] = {LEVEL, HURRY_LEVEL, NEED_LEVEL};

	p->haste = haste;
	set_level(p, levels[haste]);
}

void packer_compress(struct packer *p, const void *raw, size_t n,
		     struct bytes *data)
{
	size_t room = ZSTD_compressBound(n);
	uint8_t *out = bytes_reserve(data, room);
	size_t size;

	if (!out)
		return;
	size = ZSTD_compress2(p->zstd, out, room, raw, n);
	if (ZSTD_isError(size))
		data->failed = 1;
	else
		data->len += size;
}

/* Compresses bytes of values. */
static void compress_values(struct packer *p, const void *raw, size_t n,
			    struct bytes *data)
{
	set_level(p, BYTES_LEVEL);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, ANY_MATCH);
	packer_compress(p, raw, n, data);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, COLUMN_MATCH);
	packer_hurry(p, p->haste);
}

/* Compress what was gathered. */
static void put_raw(struct packer *p, struct bytes *data)
{
	packer_compress(p, p->raw.data, p->raw.len, data);
	data->failed |= p->raw.failed;
	p->raw.len = 0;
}

/* Compresses what was gathered in a hurry of a block with values. */
static void put_hurried(struct packer *p, struct bytes *data)
{
	size_t before = data->len, n = p->raw.len;

	if (p->n_loosely) {
		p->n_loosely--;
		put_raw(p, data);
		return;
	}
	set_level(p, p->haste == HASTE_NEED ? VALUES_NEED_LEVEL : LEVEL);
	put_raw(p, data);
	packer_hurry(p, p->haste);
	if ((data->len - before) * VALUES_RATIO > n)
		p->n_loosely = BLOCKS_BETWEEN;
}

/* Each column by itself is a zstd frame; in a hurry all together. */
static void put_column(struct packer *p, const struct column *c, uint32_t n,
		       struct bytes *data)
{
	column_put(c, n, &p->raw);
	if (!p->haste)
		put_raw(p, data);
}

/* Pairs: calls since the last marked one, and its marks. */
static void put_marks(struct packer *p, const struct lane *l,
		      struct pack_info *info, struct bytes *data)
{
	uint8_t *memory = malloc(COLUMN_SIZE(2 * l->n, 3));
	struct column pairs;
	uint32_t n = 0, last = 0;

	if (!memory) {
		data->failed = 1;
		return;
	}
	column_init(&pairs, memory, 2 * l->n, 3);
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t mark = l->marks[i];

		if (!mark)
			continue;
		if (l->thrown)
			mark += (uint64_t)l->thrown[i] * PACK_THROWN;
		info->n_unwound += (mark & PACK_ESTIMATED) == PACK_UNWOUND;
		info->n_seeds += !!(mark & PACK_SEED);
		column_add(&pairs, n++, i - last);
		column_add(&pairs, n++, mark);
		last = i;
	}
	info->n_marks = n / 2;
	put_column(p, &pairs, n, data);
	free(memory);
}

/* The bytes of the entries' values, in order, then those of the results, in the
 * order of ends. */
static void put_values(struct packer *p, const struct lane *l,
		       struct pack_info *info, struct bytes *data)
{
	put_column(p, &l->sizes, l->n, data);
	put_column(p, &l->result_sizes, l->n_ends, data);
	bytes_put(&p->raw, l->value_bytes.data, l->value_bytes.len);
	bytes_put(&p->raw, l->result_bytes.data, l->result_bytes.len);
	info->n_values = l->n_values;
	info->n_value_bytes =
		(uint32_t)(l->value_bytes.len + l->result_bytes.len);
	if (p->haste)
		return;
	compress_values(p, p->raw.data, p->raw.len, data);
	data->failed |= p->raw.failed;
	p->raw.len = 0;
}

void pack_late_put(const struct late_end *late, struct bytes *out)
{
	uint8_t end =
		late->end == CALL_ESTIMATED ? PACK_END_ESTIMATED : late->end;

	bytes_put_varint(out, late->seq);
	bytes_put_varint(out, late->end_ticks);
	bytes_put_byte(out, (uint8_t)((late->thrown ? PACK_END_THROWN : end) |
				      (late->n_result ? PACK_END_RESULT : 0)));
	if (late->thrown)
		bytes_put_varint(out, late->thrown - 1);
	if (late->n_result) {
		bytes_put_varint(out, late->n_result);
		bytes_put(out, late->result, late->n_result);
	}
}

void pack_info_put(const struct pack_info *i, struct bytes *out)
{
	bytes_put_varint(out, i->lane);
	bytes_put_varint(out, i->first_seq);
	bytes_put_varint(out, i->n_calls);
	bytes_put_varint(out, i->n_late);
	bytes_put_varint(out, i->first_number);
	bytes_put_varint(out, i->thread);
	bytes_put_varint(out, i->flags);
	bytes_put_varint(out, i->depth);
	bytes_put_varint(out, i->parent);
	bytes_put_varint(out, i->first_tick);
	bytes_put_varint(out, i->last_tick);
	bytes_put_varint(out, i->n_closed);
	bytes_put_varint(out, i->n_tail);
	bytes_put_varint(out, i->n_unwound);
	bytes_put_varint(out, i->n_seeds);
	bytes_put_varint(out, i->n_marks);
	if (i->flags & PACK_NOTES)
		bytes_put_varint(out, i->n_notes);
	if (i->flags & PACK_VALUES) {
		bytes_put_varint(out, i->n_values);
		bytes_put_varint(out, i->n_value_bytes);
	}
}

static void pack_columns(struct packer *p, const struct lane *l,
			 struct pack_info *info, struct bytes *data)
{
	info->first_number = l->first_number;
	info->thread = l->first_thread;
	info->n_notes = l->n_notes;
	info->flags = l->flags | (p->haste ? PACK_STORED : 0) |
		      (l->n_notes ? PACK_NOTES : 0) |
		      (l->n_values ? PACK_VALUES | PACK_SIZES : 0);
	info->depth = l->depth;
	info->parent = l->parent;
	info->first_tick = l->first_tick;
	info->last_tick = l->tick;
	info->n_closed = l->n_ends;
	info->n_tail = lane_tail(l);
	put_column(p, &l->columns[LANE_SITES], l->n, data);
	put_column(p, &l->columns[LANE_POPS], l->n, data);
	put_column(p, &l->columns[LANE_STARTS], l->n, data);
	put_column(p, &l->columns[LANE_ENDS], l->n_ends, data);
	if (l->flags & PACK_NUMBERS)
		put_column(p, &l->columns[LANE_NUMBERS], l->n, data);
	if (l->flags & PACK_THREADS)
		put_column(p, &l->columns[LANE_THREADS], l->n, data);
	if (l->has_marks)
		put_marks(p, l, info, data);
	if (l->n_values)
		put_values(p, l, info, data);
	if (p->haste && l->n_values)
		put_hurried(p, data);
	else if (p->haste)
		put_raw(p, data);
}

int packer_pack(struct packer *p, const struct lane *l, struct bytes *info,
		struct bytes *data)
{
	struct pack_info i = {.lane = l->index,
			      .first_seq = l->first,
			      .n_calls = l->n,
			      .n_late = l->n_late};

	/* A reader would refuse the block, or all that follows it. */
	assert(l->n <= PACK_CALLS_MAX && l->n_ends <= l->n);
	if (l->n)
		pack_columns(p, l, &i, data);
	pack_info_put(&i, info);
	for (uint32_t k = 0; k < l->n_late; k++) {
		struct late_end late = l->late[k];

		late.seq = l->first - late.seq;
		if (late.n_result)
			late.result = l->late_bytes.data + late.result_at;
		pack_late_put(&late, info);
	}
	return info->failed || data->failed ? CST_MEMORY : 0;
}

/* ---- what was stored in a hurry ------------------------------------------ */

static int unstore(struct packer *p, const uint8_t *data, size_t size,
		   const struct pack_info *info)
{
	/* 8 bytes behind the end must be readable, see column_skip(). */
	size_t room = PACK_RAW_MAX(info->n_calls) + PACK_VALUES_RAW_MAX(info),
	       raw;
	uint8_t *out;

	p->raw.len = 0;
	out = bytes_reserve(&p->raw, room + 8);
	if (!out)
		return CST_MEMORY;
	raw = ZSTD_decompress(out, room, data, size);
	if (ZSTD_isError(raw))
		return CST_BAD_FILE;
	p->raw.len = raw;
	return 0;
}

static int recompress(struct packer *p, const struct pack_info *info,
		      struct bytes *data)
{
	const uint32_t n = info->n_calls;
	const int has_sizes = info->flags & PACK_SIZES;
	const uint32_t counts[] = {
		n,
		n,
		n,
		info->n_closed,
		info->flags & PACK_NUMBERS ? n : 0,
		info->flags & PACK_THREADS ? n : 0,
		2 * info->n_marks,
		has_sizes ? n : 2 * info->n_values,
		has_sizes ? info->n_closed : 0,
	};
	struct cursor c = {p->raw.data, p->raw.data + p->raw.len, 0};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const uint8_t *begin = c.p;

		column_skip(&c, counts[i]);
		if (c.failed)
			return CST_BAD_FILE;
		if (c.p > begin)
			packer_compress(p, begin, (size_t)(c.p - begin), data);
	}
	if ((size_t)(c.end - c.p) != info->n_value_bytes)
		return CST_BAD_FILE;
	if (info->n_value_bytes)
		compress_values(p, c.p, info->n_value_bytes, data);
	return 0;
}

int packer_repack(struct packer *p, const struct bytes *old_info,
		  const struct bytes *old_data, struct bytes *info,
		  struct bytes *data)
{
	struct cursor c = {old_info->data, old_info->data + old_info->len, 0};
	struct pack_info i;
	int status;

	if (pack_info_get(&c, &i) < 0)
		return CST_BAD_FILE;
	if (!(i.flags & PACK_STORED) || !i.n_calls)
		return 0;
	status = unstore(p, old_data->data, old_data->len, &i);
	if (status == 0)
		status = recompress(p, &i, data);
	p->raw.len = 0;
	if (status < 0)
		return status;
	i.flags &= ~(uint32_t)PACK_STORED;
	pack_info_put(&i, info);
	bytes_put(info, c.p, (size_t)(c.end - c.p)); /* the late ends */
	return info->failed || data->failed ? CST_MEMORY : 1;
}
