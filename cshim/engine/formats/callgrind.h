/* SPDX-License-Identifier: MIT
 *
 * The graph of a trace in the format of callgrind, for KCachegrind and
 * callgrind_annotate: nanoseconds in place of instructions.
 */
#ifndef ENGINE_CALLGRIND_H
#define ENGINE_CALLGRIND_H

#include "trace/loader.h"

/* Returns the number of calls. last and around of the choice do not count. */
int64_t callgrind_write(const struct cst_trace *t,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err);

#endif
