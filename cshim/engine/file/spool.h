/* SPDX-License-Identifier: MIT
 *
 * The trace file as it is written: complete blocks, in large writes.  The first
 * write that fails ends it, and the blocks that are complete by then stay.
 */
#ifndef ENGINE_SPOOL_H
#define ENGINE_SPOOL_H

#include "base/error.h"
#include "file/block.h"

struct flight;

struct spool {
	int fd;
	char *cache_path; /* its path in the cache folder (cache_file.h),
		       removed with it; or NULL */
	uint64_t size;	  /* with what waits in pending */
	uint64_t written;
	struct bytes pending;
	int failed_errno; /* 0: all is well */
	int is_named;	  /* the file remains if this process dies */
	/* The flight recorder that gets the blocks instead of the file; or
	 * NULL. */
	struct flight *flight;
};

/* Checks whether a trace may be written to path.  Returns 0, CST_FAILED if a
 * file is there that is not regular, or CST_EXISTS if cstrace did not write
 * it. */
int spool_check(const char *path, struct cst_error *err);

/* Begins a trace file.  With path (not NULL or "") it is a new file there, in
 * place of a regular file of that name.  Else it is a file in dir that only its
 * owner can read: locked, under the name `cache_name` (cache_file.h) if that is
 * given and can be made, else without a name.  Returns 0 or a negative status;
 * release s in any case. */
int spool_open(struct spool *s, const char *path, const char *dir,
	       const char *cache_name, struct cst_error *err);
/* Keeps the newest blocks, up to limit_bytes of calls, in memory instead of a
 * file.  path is where they are saved; if it is NULL or "", they are saved in
 * files without a name in dir.  Returns 0 or a negative status. */
int spool_open_flight(struct spool *s, const char *path, const char *dir,
		      uint64_t limit_bytes, struct cst_error *err);
/* Closes s->fd unless it is -1, removes the file in the cache folder, and frees
 * the memory. */
void spool_release(struct spool *s);

/* Appends a block; it is written when enough of them wait.  A failure shows in
 * s->failed_errno. */
void spool_put(struct spool *s, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data);
/* Writes all that waits.  Returns 0, or CST_FAILED if this or an earlier write
 * failed. */
int spool_flush(struct spool *s);
/* Reports why nothing more is written: a write failed, or the file has reached
 * its limit.  Returns CST_FAILED. */
int spool_why(const struct spool *s, uint64_t limit_bytes,
	      struct cst_error *err);

#endif
