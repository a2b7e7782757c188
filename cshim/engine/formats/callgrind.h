/* SPDX-License-Identifier: MIT
 *
 * Writes the graph of a trace in the format of callgrind, for KCachegrind and
 * callgrind_annotate: nanoseconds in place of instructions.
 */
#ifndef ENGINE_CALLGRIND_H
#define ENGINE_CALLGRIND_H

#include "trace/loader.h"

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t callgrind_write(const struct cst_trace *t,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err);

#endif
