/* SPDX-License-Identifier: MIT
 *
 * The plain road of the call stack: runs of records that go one call deeper
 * or come back out of the innermost one, on one stack, of calls that are kept
 * and that nobody listens to.  Nearly all records are such; whatever else
 * comes is for callstack.c, in the same words but one at a time.
 */
#ifndef ENGINE_FAST_PATH_H
#define ENGINE_FAST_PATH_H

#include "calls/callstack.h"

/* Take records from the first on as long as they are plain.  Returns how many
 * were taken. */
uint32_t fast_path_take(struct callstack *c, struct thread *t,
			const struct cst_record *records, uint32_t n,
			uint32_t n_known);

#endif
