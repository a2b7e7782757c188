/* SPDX-License-Identifier: MIT
 *
 * One block of calls at a time, unpacked and checked, the late ends filled in.
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
	uint32_t cap;
};

/* Room for the block's calls; what was in it may be lost. */
int unpacked_room(struct unpacked *u, const struct pack_info *info);
void unpacked_release(struct unpacked *u);

/* Zeroed: ready. */
struct decoder {
	struct unpacker unpacker;
	struct bytes data;
};

void decoder_release(struct decoder *d);

/* Sites and threads of the calls exist then; whether the depths go on from
 * the block before is not looked at. */
int decoder_unpack(struct decoder *d, const struct cst_trace *t, uint32_t block,
		   struct unpacked *out, struct cst_error *err);

/* Number and thread of a block's call. */
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
