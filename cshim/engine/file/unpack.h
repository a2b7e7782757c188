/* SPDX-License-Identifier: MIT
 *
 * Unpacks a CALLS block into calls.  The block comes from a file and is not
 * trusted: anything inconsistent is CST_BAD_FILE.
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

/* Frees the memory of u.  A zeroed struct unpacker is ready for use. */
void unpacker_release(struct unpacker *u);

/* pack_info_get() reads the fixed part of an info, pack_late_get() each of the
 * late ends that follow in the cursor.  They return 0, or CST_BAD_FILE if
 * this cannot be the info of a CALLS block. */
int pack_info_get(struct cursor *c, struct pack_info *out);
int pack_late_get(struct cursor *c, struct late_end *out);

/* Unpacks a block into calls, which has room for info->n_calls; so have numbers
 * and threads, which are set only if the flags of info say so, and *values,
 * which the caller frees with block_values_release().  Returns 0,
 * CST_MEMORY, or CST_BAD_FILE when data is not what info says.  The caller
 * checks sites and threads: they may be any number. */
int unpacker_unpack(struct unpacker *u, const struct pack_info *info,
		    const uint8_t *data, size_t size, struct packed_call *calls,
		    uint64_t *numbers, uint32_t *threads,
		    struct block_values *values);

/* Returns the values of a call that has some. */
const struct valued *block_values_of(const struct block_values *v,
				     uint32_t call);
/* Sets the result of a call, which has none so far.  Returns 0, or a negative
 * number when out of memory. */
int block_values_result(struct block_values *v, uint32_t call,
			const uint8_t *result, uint32_t n);
/* Frees the memory of v and zeroes it. */
void block_values_release(struct block_values *v);

#endif
