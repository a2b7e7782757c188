/* SPDX-License-Identifier: MIT
 *
 * Writes a call tree as text, JSON or CSV.
 */
#ifndef ENGINE_CALLTREE_PUT_H
#define ENGINE_CALLTREE_PUT_H

#include "trace/loader.h"

/* Passes the call tree that `graph` describes to write.  Returns the number of
 * calls in it (if 0, no text is written) or a negative status. */
int64_t calltree_write(const struct cst_trace *t, const struct cst_graph *graph,
		       const struct cst_choice *choice, cst_write_fn write,
		       void *arg, struct cst_error *err);

#endif
