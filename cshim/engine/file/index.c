/* SPDX-License-Identifier: MIT
 *
 * Collects the entries of a trace file's index as its blocks are written, and
 * reads them back.
 */
#include "file/index.h"
#include "base/error.h"

/* So much waits in memory, whatever the file's size. */
enum { PIECE_SIZE = 256 << 10 };

void index_release(struct index *x)
{
	bytes_release(&x->pending);
}

void index_add(struct index *x, uint64_t at, enum block_kind kind,
	       const struct bytes *info, const struct bytes *data)
{
	bytes_put_varint(&x->pending, at - x->last_at);
	bytes_put_varint(&x->pending, kind);
	bytes_put_varint(&x->pending, data->len);
	bytes_put_varint(&x->pending, info->len);
	bytes_put(&x->pending, info->data, info->len);
	x->last_at = at;
}

int index_is_due(const struct index *x)
{
	return x->pending.len >= PIECE_SIZE;
}

void index_piece_info(const struct index *x, struct bytes *info)
{
	bytes_put_varint(info, x->pending.len);
	bytes_put_varint(info, x->piece_at);
}

void index_piece_written(struct index *x, uint64_t at)
{
	x->pending.len = 0;
	x->last_at = 0;
	x->piece_at = at;
}

void index_seal_info(const struct index *x, struct bytes *info)
{
	uint8_t *p = bytes_reserve(info, INDEX_SEAL_INFO);

	if (!p)
		return;
	put_u64(p, x->piece_at);
	info->len += INDEX_SEAL_INFO;
}

int index_get(struct cursor *c, uint64_t *at, struct block_head *head,
	      const uint8_t **info)
{
	uint64_t step = cursor_varint(c);

	*head = (struct block_head){0};
	head->kind = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	head->data_size = (uint32_t)cursor_varint_max(c, BLOCK_DATA_MAX);
	head->info_size = (uint32_t)cursor_varint_max(c, BLOCK_INFO_MAX);
	if (c->failed || head->info_size > (size_t)(c->end - c->p) ||
	    step > UINT64_MAX / 2 || *at > UINT64_MAX / 2)
		return CST_BAD_FILE;
	*at += step;
	*info = c->p;
	c->p += head->info_size;
	return 0;
}
