/* SPDX-License-Identifier: MIT
 *
 * Two cores for one stream: a thread of its own fills blocks while the caller
 * writes, or takes, those that are full.
 */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include "base/bytes.h"
#include "base/error.h"

enum { PUMP_BLOCK = 256 << 10, PUMP_BLOCKS = 4 };

/* Append about PUMP_BLOCK bytes to the empty out. 1: there is more; 0: that
 * was all; negative: failed.  Called by one thread at a time. */
typedef int (*pipeline_fill_fn)(void *arg, struct bytes *out,
				struct cst_error *err);

/* write is only called by the caller's thread; what it returns, if negative,
 * ends the pump and is returned. What fits in one block needs no thread. */
int pipeline_run(pipeline_fill_fn fill, void *fill_arg, cst_write_fn write,
		 void *write_arg, struct cst_error *err);

struct pipeline;

/* The same for who takes the blocks as it likes: filling begins at once. NULL:
 * no memory. */
struct pipeline *pipeline_new(pipeline_fill_fn fill, void *arg);
void pipeline_free(struct pipeline *p);

/* 1: *out is the next block, valid until the next call; 0: that was all; or
 * what fill failed with. */
int pipeline_next(struct pipeline *p, const struct bytes **out,
		  struct cst_error *err);

#endif
