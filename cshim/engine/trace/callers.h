/* SPDX-License-Identifier: MIT
 *
 * The calls around one in the middle of a lane, found without going through
 * what lies before it: only calls that end late, or never, can be open over a
 * block's end.
 */
#ifndef ENGINE_CALLERS_H
#define ENGINE_CALLERS_H

#include "names/values.h"
#include "trace/decode.h"

struct caller {
	struct packed_call call;
	uint64_t number;
	uint32_t thread;
	struct values *values; /* a reference of its own; or NULL */
};

/* Finds the callers of call `at` of the block, whose depth the caller knows:
 * (*out)[0] to (*out)[depth - 1], the outermost first; give them back with
 * callers_free().
 * Returns 0 or a negative status. */
int callers_find(const struct cst_trace *t, uint32_t block, uint32_t at,
		 uint32_t depth, struct caller **out, struct cst_error *err);
/* Frees callers, which may be NULL, and their values. */
void callers_free(struct caller *callers, uint32_t depth);

#endif
