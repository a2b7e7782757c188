/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a trace file again: its blocks as they are, but compressed
 * where there was no time for it when they were written.
 */
#ifndef ENGINE_RECOMPRESS_H
#define ENGINE_RECOMPRESS_H

#include "trace/loader.h"

/* Passes the file to write, piece by piece.  Returns the number of calls, or a
 * negative status. */
int64_t recompress_write(const struct cst_trace *t, cst_write_fn write,
			 void *arg, struct cst_error *err);

#endif
