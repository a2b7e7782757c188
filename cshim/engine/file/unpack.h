/* SPDX-License-Identifier: MIT
 *
 * A CALLS block back into calls.  The block comes from a file and is not
 * believed: what does not fit together is CST_BAD_FILE.
 */
#ifndef ENGINE_UNPACK_H
#define ENGINE_UNPACK_H

#include "file/pack.h"

struct unpacker {
	uint32_t cap;
	uint8_t *raw; /* the columns, decompressed */
	size_t raw_size;
	uint64_t *columns;
	uint32_t *stack;
	void *zstd;
	uint64_t largest_site; /* of the calls unpacked last */
};

void unpacker_release(struct unpacker *u);

/* The info's fixed part; the late ends follow in the cursor. Negative: this
 * cannot be the info of a CALLS block. */
int pack_info_get(struct cursor *c, struct pack_info *out);
int pack_late_get(struct cursor *c, struct late_end *out);

/* Unpack into calls (room for info->n_calls); numbers and threads (the same)
 * are filled where the flags say so. Returns 0, CST_MEMORY, or CST_BAD_FILE
 * when data is not what info says. Sites and threads are not checked. */
int unpacker_unpack(struct unpacker *u, const struct pack_info *info,
		    const uint8_t *data, size_t size, struct packed_call *calls,
		    uint64_t *numbers, uint32_t *threads);

#endif
