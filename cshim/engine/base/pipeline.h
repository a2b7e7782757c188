/* SPDX-License-Identifier: MIT
 *
 * A stream of bytes on two cores: a thread of the pipeline fills blocks while
 * the caller writes, or reads, those that are full.
 */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include "base/bytes.h"
#include "base/error.h"

enum { PUMP_BLOCK = 256 << 10, PUMP_BLOCKS = 4 };

/* Appends about PUMP_BLOCK bytes to out, which is empty.  Returns 1 if there is
 * more, 0 if that was all, or a negative status with the reason in err.  One
 * thread at a time calls it. */
typedef int (*pipeline_fill_fn)(void *arg, struct bytes *out,
				struct cst_error *err);

/* Calls fill until it returns 0 or fails, and passes each block that is not
 * empty to write, on the caller's thread.  What write returns, if negative,
 * ends the pipeline and is returned; so is what fill fails with.  Starts no
 * thread if one block is enough.  Returns 0 on success. */
int pipeline_run(pipeline_fill_fn fill, void *fill_arg, cst_write_fn write,
		 void *write_arg, struct cst_error *err);

struct pipeline;

/* Begins to fill blocks at once, for a caller that fetches them with
 * pipeline_next(). The caller frees the pipeline with pipeline_free(). Returns
 * NULL when out of memory. */
struct pipeline *pipeline_new(pipeline_fill_fn fill, void *arg);

/* Ends the thread, after the fill under way, and frees p, which may be NULL. */
void pipeline_free(struct pipeline *p);

/* Waits for the next block.  Returns 1 with it in *out, valid until the next
 * call; 0 if that was all; or the status that fill failed with, and its reason
 * in err. */
int pipeline_next(struct pipeline *p, const struct bytes **out,
		  struct cst_error *err);

#endif
