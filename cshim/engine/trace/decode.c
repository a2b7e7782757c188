/* SPDX-License-Identifier: MIT
 *
 * Unpacks a block of calls, checks the numbers in it against the trace, and
 * fills in the ends that came late.
 */
#include "trace/decode.h"
#include "trace/finish.h"

#include <assert.h>
#include <stdlib.h>

void unpacked_release(struct unpacked *u)
{
	free(u->calls);
	free(u->numbers);
	free(u->threads);
	block_values_release(&u->values);
	*u = (struct unpacked){0};
}

/* Makes room for the block's calls; what was in u may be lost. */
static int unpacked_room(struct unpacked *u, const struct pack_info *info)
{
	uint32_t n = info->n_calls;

	if (n > u->cap) {
		unpacked_release(u);
		u->calls = malloc(n * sizeof(*u->calls));
		u->cap = u->calls ? n : 0;
	}
	if (info->flags & PACK_NUMBERS && !u->numbers)
		u->numbers = malloc(u->cap * sizeof(*u->numbers));
	if (info->flags & PACK_THREADS && !u->threads)
		u->threads = malloc(u->cap * sizeof(*u->threads));
	return u->cap && (u->numbers || !(info->flags & PACK_NUMBERS)) &&
			       (u->threads || !(info->flags & PACK_THREADS))
		       ? 0
		       : CST_MEMORY;
}

void decoder_release(struct decoder *d)
{
	unpacker_release(&d->unpacker);
	bytes_release(&d->data);
}

/* The late ends of the block's calls lie side by side. */
static void fill_late(const struct cst_trace *t, struct unpacked *u,
		      const struct pack_info *info)
{
	uint32_t i = loader_late(t, info->lane, info->first_seq);

	for (; i < t->n_late; i++) {
		const struct trace_late *late = &t->late[i];
		struct packed_call *c;

		if (late->lane != info->lane ||
		    late->seq - info->first_seq >= info->n_calls)
			return;
		c = &u->calls[late->seq - info->first_seq];
		if (c->end != CALL_OPEN)
			continue;
		c->duration = late->end_ticks - c->start;
		c->end = late->end;
		c->thrown = late->thrown;
		if (late->n_result && !c->has_values)
			c->has_values = 1;
		if (late->n_result &&
		    block_values_result(
			    &u->values, (uint32_t)(late->seq - info->first_seq),
			    (const uint8_t *)late->result, late->n_result) < 0)
			return;
	}
}

static int is_sound(const struct cst_trace *t, const struct unpacked *u,
		    const struct pack_info *info)
{
	for (uint32_t i = 0; info->flags & PACK_THREADS && i < info->n_calls;
	     i++)
		if (u->threads[i] >= t->n_threads)
			return 0;
	return 1;
}

int decoder_unpack(struct decoder *d, const struct cst_trace *t, uint32_t block,
		   struct unpacked *out, struct cst_error *err)
{
	const struct trace_block *b = &t->blocks[block];
	const struct pack_info *info = &b->info;
	uint8_t *data;
	int status;

	assert(block < t->n_blocks);
	d->data.len = 0;
	data = bytes_reserve(&d->data, b->data_size + 1ull);
	if (!data || unpacked_room(out, info) < 0)
		return cst_fail_memory(err);
	if (loader_read(t, b->data_at, data, b->data_size) < 0)
		return loader_damaged(t, err, "calls cannot be read");
	status = unpacker_unpack(&d->unpacker, info, data, b->data_size,
				 out->calls, out->numbers, out->threads,
				 &out->values);
	if (status == CST_MEMORY)
		return cst_fail_memory(err);
	if (status < 0 || d->unpacker.largest_site >= t->names->n_sites ||
	    !is_sound(t, out, info))
		return loader_damaged(t, err, "a block of calls is bad");
	if (info->n_calls > info->n_closed || info->n_marks)
		fill_late(t, out, info);
	return 0;
}
