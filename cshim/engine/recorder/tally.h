/* SPDX-License-Identifier: MIT
 *
 * How often each call site was used in the trace so far.  What was counted
 * once is not read again: a condition asks each time that it is evaluated.
 */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include "trace/loader.h"

/* A zeroed one has counted nothing. */
struct tally {
	uint64_t *of_site;   /* calls, by site */
	uint64_t *next_seqs; /* by lane: calls before that one are counted */
	uint32_t cap_sites, cap_lanes;
};

/* Counts what is new in t, which holds the trace up to now.  Returns 0 or a
 * negative status. */
int tally_add(struct tally *y, const struct cst_trace *t,
	      struct cst_error *err);

/* Forgets all counts: another trace begins. */
void tally_release(struct tally *y);

#endif
