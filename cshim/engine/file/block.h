/* SPDX-License-Identifier: MIT
 *
 * The frame of the trace file: a head of 16 bytes, then blocks.  A block is
 * its own head, its info (plain bytes) and its data (zstd frames).  What each
 * kind holds is in docs/trace-format.md.
 */
#ifndef ENGINE_BLOCK_H
#define ENGINE_BLOCK_H

#include "base/bytes.h"

#define BLOCK_FILE_MAGIC "cstrace\x1a"

enum {
	BLOCK_FILE_HEAD = 16,
	BLOCK_FORMAT = 1,
	BLOCK_HEAD = 24,
	BLOCK_MARK = 0x6b6c4243, /* "CBlk" */
	BLOCK_INFO_MAX = 4 << 20,
	BLOCK_DATA_MAX = 64 << 20,
};

enum block_kind {
	BLOCK_META = 1,
	BLOCK_NAMES = 2,
	BLOCK_THREADS = 3,
	BLOCK_CALLS = 4,
	BLOCK_PAUSES = 5,
	BLOCK_END = 6,
	BLOCK_INDEX = 7,
	BLOCK_MODULES = 8,
	BLOCK_SEAL = 9,
	BLOCK_PLACES = 10,
	BLOCK_ENDS = 11,
	BLOCK_SIZES = 12,
	BLOCK_SAMPLES = 13,
	BLOCK_STACKS = 14,
	BLOCK_TAILS = 15,
};

struct block_head {
	uint32_t kind;
	uint32_t info_size, data_size;
	uint32_t info_crc;
};

/* Returns the CRC-32 of n bytes at p, as zlib, PNG and Python's zlib.crc32()
 * have it. */
uint32_t block_crc(const uint8_t *p, size_t n);

/* Writes the head in its stored form. */
void block_head_put(const struct block_head *head, uint8_t out[BLOCK_HEAD]);
/* Reads a stored head.  Returns 0, or CST_BAD_FILE if these bytes are no head.
 */
int block_head_get(const uint8_t in[BLOCK_HEAD], struct block_head *out);

#endif
