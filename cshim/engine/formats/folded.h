/* SPDX-License-Identifier: MIT
 *
 * Writes folded stacks, "main;parse;token 1234": a row for each distinct stack
 * with the nanoseconds spent at its top, which flame graph tools read.
 */
#ifndef ENGINE_FOLDED_H
#define ENGINE_FOLDED_H

#include "trace/loader.h"

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t folded_write(const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err);

#endif
