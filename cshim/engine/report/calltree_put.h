/* SPDX-License-Identifier: MIT
 *
 * A call tree as text, JSON or CSV.
 */
#ifndef ENGINE_CALLTREE_PUT_H
#define ENGINE_CALLTREE_PUT_H

#include "trace/loader.h"

/* Returns the number of calls in the tree; of 0 no text is written. */
int64_t calltree_write(const struct cst_trace *t, const struct cst_graph *graph,
		       const struct cst_choice *choice, cst_write_fn write,
		       void *arg, struct cst_error *err);

#endif
