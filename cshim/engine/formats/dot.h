/* SPDX-License-Identifier: MIT
 *
 * Writes the graph of a trace for Graphviz: which function calls which, how
 * often and for how long.
 */
#ifndef ENGINE_DOT_H
#define ENGINE_DOT_H

#include "trace/loader.h"

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t dot_write(const struct cst_trace *t, const struct cst_choice *choice,
		  cst_write_fn write, void *arg, struct cst_error *err);

#endif
