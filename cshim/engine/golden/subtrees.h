/* SPDX-License-Identifier: MIT
 *
 * Subtrees of calls.  A shape is a call with all that it calls, stored once
 * however often it is made, so that a tree takes as much memory as what differs
 * in it.
 */
#ifndef ENGINE_SUBTREES_H
#define ENGINE_SUBTREES_H

#include "base/hashmap.h"

#include <stdint.h>

/* n calls of one shape, one behind the other. */
struct shape_run {
	uint32_t shape;
	uint64_t n;
};

struct shape {
	uint32_t function;
	uint32_t end;	    /* enum call_end */
	uint32_t first_run; /* index in subtrees.runs of what it calls */
	uint32_t n_runs;
	uint64_t n_lines; /* of it as text */
	uint64_t n_bytes; /* likewise, where it is not indented */
};

struct subtrees {
	struct shape *all;
	struct shape_run *runs;
	uint32_t n, cap, n_runs, cap_runs;
	/* private */
	struct hashmap by_hash; /* to an index in all; equal hashes are moved */
};

enum { SHAPE_NONE = UINT32_MAX };

/* Frees the memory of s and zeroes it. */
void subtrees_release(struct subtrees *s);

/* Returns the index of the shape that equals *like (first_run is ignored) and
 * has the like->n_runs runs; adds it, with a copy of the runs, if it is new.
 * Returns SHAPE_NONE when out of memory. */
uint32_t subtrees_add(struct subtrees *s, const struct shape *like,
		      const struct shape_run *runs);

#endif
