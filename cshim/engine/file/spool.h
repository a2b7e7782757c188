/* SPDX-License-Identifier: MIT
 *
 * The trace file as it is written: whole blocks go out in large writes.  The
 * first write that fails ends it: what was whole before stays.
 */
#ifndef ENGINE_SPOOL_H
#define ENGINE_SPOOL_H

#include "base/error.h"
#include "file/block.h"

struct flight;

struct spool {
	int fd;
	char *held; /* its name, which goes with it (cache_file.h); or NULL */
	uint64_t size; /* with what waits in pending */
	uint64_t written;
	struct bytes pending;
	int failed_errno; /* 0: all is well */
	int is_named;	  /* who dies leaves it */
	/* Takes the blocks in the file's place; or NULL. */
	struct flight *flight;
};

/* May a trace take this name?  CST_FAILED if what is there is no regular file,
 * CST_EXISTS if cstrace did not write it. */
int spool_check(const char *path, struct cst_error *err);

/* path: a new file there, which replaces a regular file of that name.  NULL: a
 * file in dir, for its owner's eyes only: held under this name if it can be,
 * else, or with NULL, without one. */
int spool_open(struct spool *s, const char *path, const char *dir,
	       const char *held, struct cst_error *err);
/* The newest blocks in memory instead. */
int spool_open_flight(struct spool *s, const char *path, uint64_t limit_bytes,
		      struct cst_error *err);
/* Closes fd unless it is -1, and removes what is held. */
void spool_release(struct spool *s);

void spool_put(struct spool *s, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data);
/* Negative: it failed, now or before. */
int spool_flush(struct spool *s);
/* Why nothing more is written: it failed, or has reached its limit. */
int spool_why(const struct spool *s, uint64_t limit_bytes,
	      struct cst_error *err);

#endif
