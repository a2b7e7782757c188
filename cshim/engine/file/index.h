/* SPDX-License-Identifier: MIT
 *
 * The index of a sealed trace file: heads and infos of all its blocks in a few
 * pieces, each pointing to the piece before it, and the seal at the file's end
 * pointing to the last.  Whoever opens the file reads these instead of hopping
 * from block to block.
 */
#ifndef ENGINE_INDEX_H
#define ENGINE_INDEX_H

#include "file/block.h"

enum { INDEX_SEAL_INFO = 8, INDEX_SEAL_SIZE = BLOCK_HEAD + INDEX_SEAL_INFO };

/* What is to be written; zeroed: nothing yet. */
struct index {
	struct bytes pending; /* entries of the piece under way */
	uint64_t last_at;     /* where the entry before lies */
	uint64_t piece_at;    /* the last piece that was written, or 0 */
};

void index_release(struct index *x);

/* The block at `at` of the file. */
void index_add(struct index *x, uint64_t at, enum block_kind kind,
	       const struct bytes *info, const struct bytes *data);

/* Is the piece long enough to be written? */
int index_is_due(const struct index *x);

/* The info of the piece, whose contents are x->pending. */
void index_piece_info(const struct index *x, struct bytes *info);

/* The piece was written at `at`: begin the next. */
void index_piece_written(struct index *x, uint64_t at);

/* The info of the seal; it has no data. */
void index_seal_info(const struct index *x, struct bytes *info);

/* The entry under the cursor; `at` is that of the one before, 0 for the first
 * of a piece, and moves on. info is borrowed from the piece. */
int index_get(struct cursor *c, uint64_t *at, struct block_head *head,
	      const uint8_t **info);

#endif
