/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as JSON lines: one object a call, in order of entry.
 */
#ifndef ENGINE_JSONL_H
#define ENGINE_JSONL_H

#include "trace/loader.h"

/* Passes the lines to write().  Obeys all of the choice, also last, around and
 * at.  Returns the number of lines, a negative status, or the negative number
 * by which write() ended it. */
int64_t jsonl_write(const struct cst_trace *t, const struct cst_choice *choice,
		    cst_write_fn write, void *arg, struct cst_error *err);

#endif
