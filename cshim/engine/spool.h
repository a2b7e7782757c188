/* SPDX-License-Identifier: MIT
 *
 * The trace file as it is written: whole blocks go out in large writes.  The
 * first write that fails ends it: what was whole before stays.
 */
#ifndef ENGINE_SPOOL_H
#define ENGINE_SPOOL_H

#include "block.h"
#include "error.h"

struct spool {
	int fd;
	uint64_t size; /* with what waits in pending */
	uint64_t written;
	struct bytes pending;
	int failed_errno; /* 0: all is well */
};

/* path: a new file there, which replaces a regular file of that name.  NULL: a
 * file without a name in dir, for its owner's eyes only. */
int spool_open(struct spool *s, const char *path, const char *dir,
	       struct cst_error *err);
/* Closes fd unless it is -1. */
void spool_release(struct spool *s);

void spool_put(struct spool *s, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data);
/* Negative: it failed, now or before. */
int spool_flush(struct spool *s);

#endif
