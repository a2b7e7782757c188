/* SPDX-License-Identifier: MIT
 *
 * A trace as a trace file again: its blocks as they are, but compressed where
 * there was no time for it when they were written.
 */
#ifndef ENGINE_RECOMPRESS_H
#define ENGINE_RECOMPRESS_H

#include "trace/loader.h"

/* Returns the number of calls. */
int64_t recompress_write(const struct cst_trace *t, cst_write_fn write,
			 void *arg, struct cst_error *err);

#endif
