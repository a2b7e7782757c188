/* SPDX-License-Identifier: MIT
 *
 * All calls of a choice by their stack: a tree with one node for each distinct
 * path of functions, over all lanes.  The tree itself serves others as well
 * (calltree.h), which choose what a node's number b stands for.
 */
#ifndef ENGINE_CALL_PATHS_H
#define ENGINE_CALL_PATHS_H

#include "base/pairs.h"
#include "trace/loader.h"
#include "trace/total.h"

enum {
	STACKS_MOST = 1 << 20,
	NO_STACK = UINT32_MAX, /* above the outermost function */
};

struct stack_sums {
	struct total total;
	/* Where recursion is folded: the node above this one that has its
	 * number b too, or else the node itself. */
	uint32_t target;
};

/* Zeroed: empty.  Node i is the function nodes.all[i].b called from the node
 * nodes.all[i].a, which has a lower number, or is NO_STACK. */
struct call_paths {
	struct pairs nodes;
	struct stack_sums *sums; /* by node */
	uint32_t cap;
	int64_t n_calls;
	/* Calls beyond STACKS_MOST nodes or the deepest level: their time
	 * counts as their caller's own. */
	int64_t n_left_out;
};

/* Sets *out to the node b below the node `above`. Returns 1 if it is there,
 * zeroed if it is new; 0 if there are STACKS_MOST others; or CST_MEMORY. */
int call_paths_node(struct call_paths *s, uint32_t above, uint32_t b,
		    uint32_t *out);

/* Fills an empty s with the calls of the choice, at most n_levels deep.
 * Returns 0 or a negative status; release s in any case. */
int call_paths_make(struct call_paths *s, const struct cst_trace *t,
		    const struct cst_choice *choice, uint32_t n_levels,
		    struct cst_error *err);

/* Frees the memory of s and zeroes it. */
void call_paths_release(struct call_paths *s);

#endif
