/* SPDX-License-Identifier: MIT
 *
 * Folded stacks, "main;parse;token 1234": a row for each distinct stack with
 * the nanoseconds spent at its top, which flame graph tools read.
 */
#ifndef ENGINE_FOLDED_H
#define ENGINE_FOLDED_H

#include "trace/loader.h"

/* Returns the number of calls. last and around of the choice do not count. */
int64_t folded_write(const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err);

#endif
