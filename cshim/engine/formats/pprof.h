/* SPDX-License-Identifier: MIT
 *
 * pprof's profile.proto, gzipped: https://github.com/google/pprof.
 */
#ifndef ENGINE_PPROF_H
#define ENGINE_PPROF_H

#include "cstrace/engine.h"

/* Writes the samples of the choice, or its calls where there are none.  Returns
 * how many there are, or a negative status. */
int64_t pprof_write(const struct cst_trace *t, const struct cst_choice *choice,
		    cst_write_fn write, void *arg, struct cst_error *err);

#endif
