/* SPDX-License-Identifier: MIT
 *
 * The index of a sealed trace file: heads and infos of all its blocks in a few
 * pieces, each pointing to the piece before it, and the seal at the file's end
 * pointing to the last.  A reader of the file reads these instead of going from
 * block to block.
 */
#ifndef ENGINE_INDEX_H
#define ENGINE_INDEX_H

#include "file/block.h"

enum { INDEX_SEAL_INFO = 8, INDEX_SEAL_SIZE = BLOCK_HEAD + INDEX_SEAL_INFO };

/* What remains to be written; zeroed: nothing yet. */
struct index {
	struct bytes pending; /* entries of the piece under way */
	uint64_t last_at;     /* where the entry before lies */
	uint64_t piece_at;    /* the last piece that was written, or 0 */
};

/* Frees the memory of x and zeroes it. */
void index_release(struct index *x);

/* Adds an entry for the block that begins at byte `at` of the file. */
void index_add(struct index *x, uint64_t at, enum block_kind kind,
	       const struct bytes *info, const struct bytes *data);

/* Returns whether the piece is long enough to be written. */
int index_is_due(const struct index *x);

/* Appends the info of the piece, whose contents are x->pending. */
void index_piece_info(const struct index *x, struct bytes *info);

/* Reports that the piece was written at byte `at` of the file, and begins the
 * next one. */
void index_piece_written(struct index *x, uint64_t at);

/* Appends the info of the seal, which has no data. */
void index_seal_info(const struct index *x, struct bytes *info);

/* Reads the next entry of a piece.  *at, where the block before begins (0 for
 * the first of a piece), becomes where this one begins; *info points into the
 * piece.  Returns 0, or CST_BAD_FILE if the entry is damaged. */
int index_get(struct cursor *c, uint64_t *at, struct block_head *head,
	      const uint8_t **info);

#endif
