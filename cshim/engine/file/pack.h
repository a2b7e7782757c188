/* SPDX-License-Identifier: MIT
 *
 * A CALLS block: some calls of one lane in order of entry, as columns.
 *
 * Times are written as the steps from event to event of the lane (entries and
 * exits as they came), so they stay small whatever the calls' durations.  A
 * call that had not ended when its block was written is open there; its end
 * comes as a late end with a later block of the lane.
 */
#ifndef ENGINE_PACK_H
#define ENGINE_PACK_H

#include "base/bytes.h"
#include "base/error.h"
#include "file/lane_block.h"

/* What the info of a block says, which can be read without unpacking the
 * block. */
struct pack_info {
	uint32_t lane;
	uint32_t n_calls;
	uint64_t first_seq;
	uint64_t first_number; /* and so on, unless PACK_NUMBERS */
	uint32_t thread;       /* of all its calls, unless PACK_THREADS */
	uint32_t flags;
	uint32_t depth;	     /* depth of the first call */
	uint64_t parent;     /* seq of the first call's caller + 1, or 0 */
	uint64_t first_tick; /* start of the first call */
	uint64_t last_tick;  /* of its last event */
	uint32_t n_closed;   /* calls of this block that ended in it */
	uint32_t n_tail;     /* of them, after its last entry */
	uint32_t n_unwound, n_seeds, n_marks;
	uint32_t n_notes; /* entries that are no calls: what an exception did */
	uint32_t n_late;
	uint32_t n_values, n_value_bytes; /* calls with values, and with results
					   */
};

enum {
	PACK_NUMBERS = 1,
	PACK_THREADS = 2,
	PACK_STORED = 4,  /* there was no time to compress the columns */
	PACK_NOTES = 8,	  /* n_notes is written */
	PACK_VALUES = 16, /* n_values and n_value_bytes are written */
	/* Their sizes are two columns, by entry and by end; without it, in
	 * older files, pairs of a call and a size. */
	PACK_SIZES = 32,
};

/* Marks of single calls. */
enum {
	PACK_UNWOUND = 1,
	PACK_LEFT_OPEN = 2, /* has no end, though later calls lie beside it */
	PACK_ESTIMATED = PACK_UNWOUND | PACK_LEFT_OPEN, /* when it returned */
	PACK_SEED = 4,
	PACK_THROWN = 8, /* times a function's number + 1: what unwound it */
};

/* How a late end is written: enum call_end, but PACK_END_ESTIMATED for an
 * estimated one; or PACK_END_THROWN, followed by what unwound it; plus
 * PACK_END_RESULT, followed by its result's size and bytes. */
enum { PACK_END_THROWN = 3, PACK_END_ESTIMATED = 4, PACK_END_RESULT = 8 };

/* One call as unpacked. */
struct packed_call {
	uint64_t start, duration; /* ticks */
	uint32_t site;
	uint32_t depth;
	uint32_t thrown; /* what unwound it: a function's number + 1, or 0 */
	uint8_t end;	 /* enum call_end; open may have a late end */
	uint8_t is_seed;
	uint8_t has_values; /* in its block_values */
};

/* The values of call `call` of a block: n bytes and, behind them, n_result
 * bytes of its result. */
struct valued {
	uint32_t call;
	uint32_t at, n, n_result;
};

/* The values of a block, in order of its calls. */
struct block_values {
	struct valued *all;
	uint32_t n, cap;
	struct bytes bytes;
};

enum { PACK_CALLS_MAX = 65536, PACK_VALUES_MAX = 16 << 20 };

/* The most bytes that the columns of n calls take; the marks are two
 * columns, and so are the sizes of values. */
#define PACK_RAW_MAX(n) (10 * COLUMN_SIZE(n, 7))
/* ... and those of the values of a block, with the pairs of older files. */
#define PACK_VALUES_RAW_MAX(info) \
	(COLUMN_SIZE(2 * (size_t)(info)->n_values, 7) + (info)->n_value_bytes)

struct packer;

/* Returns a packer, which the caller frees with packer_free(), or NULL when out
 * of memory. */
struct packer *packer_new(void);

/* Frees p, which may be NULL. */
void packer_free(struct packer *p);

/* Sets how much time the next blocks may take: HASTE_HURRY packs all columns
 * together and loosely, HASTE_NEED hardly more than stores them. */
enum haste { HASTE_NONE, HASTE_HURRY, HASTE_NEED };
void packer_hurry(struct packer *p, enum haste haste);

/* Appends the block of the lane's calls and late ends to info and data. Returns
 * 0, or CST_MEMORY. */
int packer_pack(struct packer *p, const struct lane *l, struct bytes *info,
		struct bytes *data);

/* Appends to info and data a CALLS block that was stored in a hurry, packed as
 * it would have been with more time.  Returns 1 if so, 0 if the block was not
 * stored in a hurry, CST_MEMORY or CST_BAD_FILE. */
int packer_repack(struct packer *p, const struct bytes *old_info,
		  const struct bytes *old_data, struct bytes *info,
		  struct bytes *data);

/* Appends n bytes at raw as one zstd frame to data, for blocks of other
 * kinds. */
void packer_compress(struct packer *p, const void *raw, size_t n,
		     struct bytes *data);

/* Appends a late end in its stored form; late->seq is here its distance from
 * the first call of the block. */
void pack_late_put(const struct late_end *late, struct bytes *out);

/* Appends the fixed part of the info to out; the late ends follow it. */
void pack_info_put(const struct pack_info *i, struct bytes *out);

#endif
