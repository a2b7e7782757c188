/* SPDX-License-Identifier: MIT
 *
 * Where the flows of two lanes part: the first call that differs, what was
 * open there, and how the calls below the innermost of those go on.
 */
#ifndef ENGINE_DIVERGENCE_H
#define ENGINE_DIVERGENCE_H

#include "diff/counts.h"
#include "trace/view.h"

enum {
	PARTING_CHILDREN = 500, /* children of each trace that are compared */
};

enum divergence_kind { PARTING_NONE, PARTING_CALL, PARTING_END };

/* A call below the innermost common one, with all that it calls. */
struct divergence_child {
	struct shown call;
	uint32_t site; /* joint */
	uint64_t n_calls;
	uint64_t hash;
};

/* One row of the comparison: a child of the first, the second, or both. */
struct divergence_step {
	uint32_t a, b; /* index + 1, or 0 */
};

struct divergence {
	enum divergence_kind kind;
	uint64_t n_equal;     /* calls before it */
	uint32_t depth;	      /* of the calls that differ */
	struct shown next[2]; /* the first that differ; number 0: the end */
	/* The calls around it, by depth up to `depth`; and at [depth] the last
	 * equal call before it (number 0: none). */
	struct shown *stack[2];
	uint32_t cap_stack;
	struct divergence_child *children[2];
	uint32_t n_children[2];
	int is_cut[2]; /* there are more */
	/* The call that comes where they end (number 0: none), and whether it
	 * is equal in both. */
	struct shown after[2];
	int is_same_after;
	struct divergence_step *steps;
	uint32_t n_steps;
};

/* Compares the flows of lanes[0] of the first trace and lanes[1] of the second,
 * which are indexes of lanes; how calls ended is compared only where all else
 * is equal.  p is zeroed, or has an earlier result, which is released.  p
 * borrows from the traces.  Returns 0, with PARTING_NONE if nothing differs, or
 * a negative status; release p in any case. */
int divergence_find(struct divergence *p, const struct matched_functions *j,
		    const struct cst_choice *choice, const uint32_t lanes[2],
		    struct cst_error *err);

/* Frees the memory of p. */
void divergence_release(struct divergence *p);

#endif
