/* SPDX-License-Identifier: MIT
 *
 * Copies the blocks of a trace into a new file, packs again those that were
 * stored in a hurry, and writes names that have changed.
 */
#include "trace/recompress.h"
#include "base/outfile.h"
#include "file/index.h"
#include "file/meta_write.h"

enum { PIECE = 256 << 10 };

struct copy {
	const struct cst_trace *t;
	cst_write_fn write;
	void *arg;
	struct packer *packer;
	struct bytes old_info, old_data;
	struct bytes info, data;
	struct bytes out; /* not yet written */
	uint64_t n_out;	  /* written */
	struct index index;
};

static int copy_flush(struct copy *c, struct cst_error *err)
{
	size_t len = c->out.len;

	if (c->out.failed)
		return cst_fail_memory(err);
	c->out.len = 0;
	c->n_out += len;
	return len && c->write(c->arg, (const char *)c->out.data, len) < 0
		       ? CST_FAILED
		       : 0;
}

static void copy_put(struct copy *c, uint32_t kind, const struct bytes *info,
		     const struct bytes *data)
{
	struct block_head head = {
		.kind = kind,
		.info_size = (uint32_t)info->len,
		.data_size = (uint32_t)data->len,
		.info_crc = block_crc(info->data, info->len),
	};
	uint8_t text[BLOCK_HEAD];

	if (kind != BLOCK_INDEX && kind != BLOCK_SEAL)
		index_add(&c->index, c->n_out + c->out.len, kind, info, data);
	block_head_put(&head, text);
	bytes_put(&c->out, text, sizeof(text));
	bytes_put(&c->out, info->data, info->len);
	bytes_put(&c->out, data->data, data->len);
}

static void copy_put_index(struct copy *c)
{
	const struct bytes *piece = &c->index.pending;
	uint64_t at = c->n_out + c->out.len;

	c->info.len = c->data.len = 0;
	index_piece_info(&c->index, &c->info);
	packer_compress(c->packer, piece->data, piece->len, &c->data);
	copy_put(c, BLOCK_INDEX, &c->info, &c->data);
	c->out.failed |= piece->failed;
	index_piece_written(&c->index, at);
}

static void copy_put_plain(struct copy *c, enum block_kind kind,
			   struct bytes *raw, size_t size)
{
	if (raw->len < size)
		return;
	c->info.len = c->data.len = 0;
	bytes_put_varint(&c->info, raw->len);
	packer_compress(c->packer, raw->data, raw->len, &c->data);
	copy_put(c, kind, &c->info, &c->data);
	c->out.failed |= raw->failed;
	raw->len = 0;
}

/* Names that were found since they were written take those' place. */
static void copy_put_names(struct copy *c)
{
	const struct names *n = c->t->names;
	struct bytes *plain = &c->old_data;

	plain->len = 0;
	for (uint32_t i = 0; i < n->n_dirty_functions; i++) {
		meta_put_function(plain, n, n->dirty_functions[i]);
		copy_put_plain(c, BLOCK_NAMES, plain, PIECE);
	}
	for (uint32_t i = 0; i < n->n_dirty_sites; i++) {
		meta_put_site(plain, n, n->dirty_sites[i]);
		copy_put_plain(c, BLOCK_NAMES, plain, PIECE);
	}
	copy_put_plain(c, BLOCK_NAMES, plain, 1);
	for (uint32_t i = 0; i < n->n_dirty_functions; i++) {
		meta_put_size(plain, n, n->dirty_functions[i]);
		copy_put_plain(c, BLOCK_SIZES, plain, PIECE);
	}
	copy_put_plain(c, BLOCK_SIZES, plain, 1);
}

static void copy_put_seal(struct copy *c)
{
	copy_put_index(c);
	c->info.len = c->data.len = 0;
	index_seal_info(&c->index, &c->info);
	copy_put(c, BLOCK_SEAL, &c->info, &c->data);
}

static int copy_read(struct copy *c, uint64_t at, size_t n, struct bytes *out,
		     struct cst_error *err)
{
	uint8_t *room;

	out->len = 0;
	room = bytes_reserve(out, n + 1);
	if (!room)
		return cst_fail_memory(err);
	if (loader_read(c->t, at, room, n) < 0)
		return loader_damaged(c->t, err, "it cannot be read");
	out->len = n;
	return 0;
}

/* The block at `at`; returns its size. */
static int64_t copy_block(struct copy *c, uint64_t at, struct cst_error *err)
{
	const struct bytes *info = &c->old_info, *data = &c->old_data;
	struct block_head head;
	uint8_t text[BLOCK_HEAD];
	int status;

	if (loader_read(c->t, at, text, sizeof(text)) < 0 ||
	    block_head_get(text, &head) < 0)
		return loader_damaged(c->t, err, "it cannot be read");
	if (head.kind == BLOCK_INDEX || head.kind == BLOCK_SEAL)
		return BLOCK_HEAD + (int64_t)head.info_size + head.data_size;
	at += BLOCK_HEAD;
	status = copy_read(c, at, head.info_size, &c->old_info, err);
	if (status == 0)
		status = copy_read(c, at + head.info_size, head.data_size,
				   &c->old_data, err);
	if (status < 0)
		return status;
	c->info.len = c->data.len = 0;
	if (head.kind == BLOCK_CALLS) {
		status = packer_repack(c->packer, info, data, &c->info,
				       &c->data);
		if (status == CST_MEMORY)
			return cst_fail_memory(err);
		if (status < 0)
			return loader_damaged(c->t, err,
					      "a block of calls is bad");
		info = status ? &c->info : info;
		data = status ? &c->data : data;
	}
	copy_put(c, head.kind, info, data);
	if (index_is_due(&c->index))
		copy_put_index(c);
	return BLOCK_HEAD + (int64_t)head.info_size + head.data_size;
}

static int copy_blocks(struct copy *c, struct cst_error *err)
{
	uint8_t head[BLOCK_FILE_HEAD];
	uint64_t at = sizeof(head);

	if (loader_read(c->t, 0, head, sizeof(head)) < 0)
		return loader_damaged(c->t, err, "it cannot be read");
	bytes_put(&c->out, head, sizeof(head));
	while (at < c->t->size) {
		int64_t n;

		if (outfile_is_interrupted())
			return cst_fail(CST_INTERRUPTED, err, "interrupted");
		n = copy_block(c, at, err);
		if (n < 0)
			return (int)n;
		at += (uint64_t)n;
		if (c->out.len >= PIECE) {
			int status = copy_flush(c, err);

			if (status < 0)
				return status;
		}
	}
	if (c->t->is_renamed)
		copy_put_names(c);
	copy_put_seal(c);
	return copy_flush(c, err);
}

int64_t recompress_write(const struct cst_trace *t, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	struct copy c = {.t = t, .write = write, .arg = arg};
	int status;

	c.packer = packer_new();
	status = c.packer ? copy_blocks(&c, err) : cst_fail_memory(err);
	packer_free(c.packer);
	bytes_release(&c.old_info);
	bytes_release(&c.old_data);
	bytes_release(&c.info);
	bytes_release(&c.data);
	bytes_release(&c.out);
	index_release(&c.index);
	if (status < 0)
		return status;
	return (int64_t)(t->status.n_calls + t->status.n_seeds);
}
