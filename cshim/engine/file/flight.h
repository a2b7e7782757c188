/* SPDX-License-Identifier: MIT
 *
 * The flight recorder: the blocks of a trace file, kept in memory up to a
 * limit, beyond which the oldest calls are dropped.  The calls of dropped
 * blocks that are still open are kept, so that a complete trace can be saved:
 * it begins with them.
 */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include "base/error.h"
#include "file/block.h"

struct flight;

/* Makes an empty one, which the caller frees with flight_free(). limit_bytes
 * limits the blocks of calls.  path is where it is saved; if that is NULL or
 * "", it is saved in files without a name in dir.  Both are copied.  Returns 0
 * or CST_MEMORY. */
int flight_new(uint64_t limit_bytes, const char *path, const char *dir,
	       struct flight **out, struct cst_error *err);

/* Frees f, which may be NULL. */
void flight_free(struct flight *f);

/* Adds a copy of a block, and drops the oldest calls beyond the limit.  Returns
 * 0, or CST_MEMORY. */
int flight_put(struct flight *f, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data);

/* Returns the bytes of the blocks of calls. */
uint64_t flight_size(const struct flight *f);

/* Writes all blocks as a trace file, which gets its name, if it has one, when
 * it is complete. Returns 0, and in *fd the open file, which the caller closes;
 * or a negative status. */
int flight_save(struct flight *f, int *fd, struct cst_error *err);

#endif
