/* SPDX-License-Identifier: MIT
 *
 * The parts of a fold, for fold_node.c (the nodes), fold.c (the calls and rows)
 * and fold_live.c (what is on a screen already).
 */
#ifndef ENGINE_FOLD_PARTS_H
#define ENGINE_FOLD_PARTS_H

#include "rows/fold.h"
#include "rows/fold_node.h"

/* So many nodes are kept; beyond that rows are passed on as they are. */
enum { MAX_HELD = 32768 };

/* An open call; the calls of one recursion share a node. */
struct level {
	struct node *node;
	uint32_t depth;
	uint32_t n_inner; /* levels of its recursion that are open above it */
};

struct lane_state {
	struct node top; /* its first calls are below it */
	/* All rows before this node were passed on; NULL: it is top. */
	struct node *front;
	struct level *levels;
	uint32_t n, cap;
};

struct slab;

struct fold {
	const struct names *names;
	fold_row_fn row;
	void *arg;
	struct lane_state **lanes;
	uint32_t n_lanes;
	struct slab *slabs;
	struct node *free;
	uint64_t n_held;  /* nodes in use */
	uint64_t n_added; /* calls so far, and numbers for keys */
	uint64_t now_ns;
	/* fold_only()'s call, if has_only is set. */
	uint64_t only_number;
	uint32_t only_thread;
	uint8_t only_is_seed;
	uint8_t has_only, is_live;
};

#endif
