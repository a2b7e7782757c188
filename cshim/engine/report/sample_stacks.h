/* SPDX-License-Identifier: MIT
 *
 * The newest stack of each thread that was sampled.
 */
#ifndef ENGINE_SAMPLE_STACKS_H
#define ENGINE_SAMPLE_STACKS_H

#include "cstrace/engine.h"

/* Writes them; as cst_trace_stacks(). */
int64_t sample_stacks_write(const struct cst_trace *t,
			    const struct cst_choice *choice, int is_line,
			    cst_write_fn write, void *arg,
			    struct cst_error *err);

#endif
