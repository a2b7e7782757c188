/* SPDX-License-Identifier: MIT
 *
 * What the files of the fold share: fold_node.c for the nodes, fold.c for the
 * calls and rows, fold_live.c for what is on a screen already.
 */
#ifndef ENGINE_FOLD_PARTS_H
#define ENGINE_FOLD_PARTS_H

#include "rows/fold.h"
#include "rows/fold_node.h"

enum { MAX_HELD = 32768 };

/* An open call; those of a recursion are on one node. */
struct level {
	struct node *node;
	uint32_t depth;
	uint32_t n_inner; /* calls of the function that it lies in */
};

struct lane_state {
	struct node top; /* its first calls are below it */
	/* All that comes before it was given; NULL: it is top. */
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
	uint64_t n_held, n_added;
	uint64_t now_ns;
	uint64_t only_number;
	uint32_t only_thread;
	uint8_t only_is_seed;
	uint8_t has_only, is_live;
};

/* The lane's state, which is made where there is none; NULL: out of memory. */
struct lane_state *fold_lane(struct fold *f, uint32_t lane);
/* The lane's innermost open call has ended. */
int fold_pop_level(struct fold *f, struct lane_state *l);
/* The calls at this depth and below have ended. */
int fold_pop_lane(struct fold *f, struct lane_state *l, uint32_t depth);

int fold_give_row(struct fold *f, struct node *node);
/* Give the rows of a whole node and of all below it. */
int fold_give_all(struct fold *f, struct node *top);

/* Has the call returned, so that it may be in one row with others? */
int fold_is_foldable(const struct shown *call);

#endif
