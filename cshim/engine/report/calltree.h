/* SPDX-License-Identifier: MIT
 *
 * All calls of a choice as one folded tree: a node for each path of functions,
 * over all threads, with its calls and times.  A call of a function that is
 * open already is folded into the node above it that has that function, so no
 * path has a function twice and its time counts once.
 *
 * With subjects (functions that the user asks about) there are two trees: one
 * of what the subjects call, merged over all places where they are called, and
 * one of their callers, which is upside down: below a subject lies the function
 * that called it, below that the function's own caller.
 */
#ifndef ENGINE_CALLTREE_H
#define ENGINE_CALLTREE_H

#include "trace/call_paths.h"
#include "report/report_keys.h"
#include "trace/loader.h"

/* Zeroed: empty.  A node's number b is a key.  A node whose target is another
 * one stands for recursive calls: it has their number only, and nothing lies
 * below it; their times and callees are in the target. */
struct calltree {
	struct keys keys;
	struct call_paths
		callees; /* without subjects: of the outermost calls */
	struct call_paths callers; /* with the subjects' calls and times */
	uint64_t total_ns;	   /* of the roots, each moment once */
	int64_t n_calls;	   /* in the tree of callees */
};

/* Fills an empty c with the calls of the choice.  function is a word that the
 * subjects' names match; NULL: there are no subjects.  Returns 0 or a negative
 * status, and then c is released. */
int calltree_make(struct calltree *c, const struct cst_trace *t,
		  const char *function, const struct cst_choice *choice,
		  struct cst_error *err);

/* Frees the memory of c and zeroes it. */
void calltree_release(struct calltree *c);

/* Returns whether the node stands for recursive calls. */
static inline int calltree_is_recursive(const struct call_paths *s,
					uint32_t node)
{
	return s->sums[node].target != node;
}

#endif
