/* SPDX-License-Identifier: MIT
 *
 * The fast path of the call stack: runs of records that go one call deeper or
 * return from the innermost one, on one stack, of calls that are kept and have
 * no listener.  Nearly all records are such; callstack.c handles all others,
 * one at a time.
 */
#ifndef ENGINE_FAST_PATH_H
#define ENGINE_FAST_PATH_H

#include "calls/callstack.h"

/* Consumes records from the first on, as long as they are for the fast path.
 * Returns how many it consumed. */
uint32_t fast_path_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known);

#endif
