/* SPDX-License-Identifier: MIT
 *
 * Two cores for one stream: a thread of its own fills blocks while the caller
 * writes those that are full.
 */
#ifndef ENGINE_PUMP_H
#define ENGINE_PUMP_H

#include "bytes.h"
#include "error.h"

enum { PUMP_BLOCK = 256 << 10, PUMP_BLOCKS = 4 };

/* Append about PUMP_BLOCK bytes to the empty out. 1: there is more; 0: that
 * was all; negative: failed.  Called by one thread at a time. */
typedef int (*pump_fill_fn)(void *arg, struct bytes *out,
			    struct cst_error *err);

/* write is only called by the caller's thread; what it returns, if negative,
 * ends the pump and is returned. What fits in one block needs no thread. */
int pump_run(pump_fill_fn fill, void *fill_arg, cst_write_fn write,
	     void *write_arg, struct cst_error *err);

#endif
