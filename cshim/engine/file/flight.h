/* SPDX-License-Identifier: MIT
 *
 * The flight recorder: blocks of a trace file kept in memory, the oldest calls
 * dropped.  Of what is dropped the calls that are still open are kept, so that
 * what is saved is a whole trace: it begins with them.
 */
#ifndef ENGINE_FLIGHT_H
#define ENGINE_FLIGHT_H

#include "base/error.h"
#include "file/block.h"

struct flight;

/* limit_bytes: of the blocks of calls.  path (copied) is where it is saved. */
int flight_new(uint64_t limit_bytes, const char *path, struct flight **out,
	       struct cst_error *err);
void flight_free(struct flight *f);

/* Take a block.  Negative: out of memory. */
int flight_put(struct flight *f, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data);
uint64_t flight_size(const struct flight *f);

/* Write what is there as a trace file, which takes its name when it is whole.
 * *fd: the open file, the caller's. */
int flight_save(struct flight *f, int *fd, struct cst_error *err);

#endif
