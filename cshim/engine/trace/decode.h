/* SPDX-License-Identifier: MIT
 *
 * Unpacks one block of calls at a time, checked, with the late ends filled in.
 */
#ifndef ENGINE_DECODE_H
#define ENGINE_DECODE_H

#include "file/unpack.h"
#include "trace/loader.h"

/* The memory of one block's calls. */
struct unpacked {
	struct packed_call *calls;
	uint64_t *numbers; /* with PACK_NUMBERS */
	uint32_t *threads; /* with PACK_THREADS */
	struct block_values values;
	uint32_t cap;
};

/* Frees the memory of u. */
void unpacked_release(struct unpacked *u);

/* Zeroed: ready. */
struct decoder {
	struct unpacker unpacker;
	struct bytes data;
};

/* Frees the memory of d. */
void decoder_release(struct decoder *d);

/* Unpacks a block (index) of t into *out.  Returns 0 or a negative status.  The
 * sites and threads of its calls exist then; whether the depths continue those
 * of the block before is not checked. */
int decoder_unpack(struct decoder *d, const struct cst_trace *t, uint32_t block,
		   struct unpacked *out, struct cst_error *err);

/* Return the number, or the thread's index, of the i-th call of a block. */
static inline uint64_t unpacked_number(const struct unpacked *u,
				       const struct pack_info *info, uint32_t i)
{
	return info->flags & PACK_NUMBERS ? u->numbers[i]
					  : info->first_number + i;
}

static inline uint32_t unpacked_thread(const struct unpacked *u,
				       const struct pack_info *info, uint32_t i)
{
	return info->flags & PACK_THREADS ? u->threads[i] : info->thread;
}

#endif
