/* SPDX-License-Identifier: MIT
 *
 * A node of the tree of calls that are folded: calls side by side that are
 * one row, or a loop with its rows below it.
 */
#ifndef ENGINE_FOLD_NODE_H
#define ENGINE_FOLD_NODE_H

#include "trace/view.h"

enum {
	MAX_KINDS = 64, /* so many shapes are looked through, where the order
			 * makes no difference */
};

struct fold;

struct node {
	struct shown call;
	uint64_t cookie;
	uint64_t order; /* of entry */
	uint64_t key;
	uint64_t n; /* calls side by side, or rounds of a loop */
	uint64_t n_calls;
	uint64_t n_told, told_ns; /* live: the count in its last row */
	struct node *above, *first, *last, *next, *previous;
	/* Where its calls are made, which is known when it is whole: lines
	 * from first_line to last_line of the file. */
	const char *file;
	uint32_t first_line, last_line;
	uint32_t function;
	uint32_t n_levels;
	uint32_t period; /* not 0: a loop, its rows are below it */
	uint32_t height;
	uint8_t is_own;	  /* it joins no other */
	uint8_t is_whole; /* it has ended, or is taken to have */
	uint8_t is_given;
	uint8_t is_aside; /* much slower than what it would join; passed over
			   * when calls are compared with those before */
	uint8_t is_only;  /* fold_only()'s, with all below */
};

/* NULL: out of memory. */
struct node *node_new(struct fold *f);
void node_append(struct node *above, struct node *node);
/* Free the linked node and all below it. */
void node_drop(struct fold *f, struct node *node);
/* Free the memory of all nodes. */
void node_free_all(struct fold *f);
/* The next in order of entry; NULL: the last below `top`. */
struct node *node_after(const struct node *node, const struct node *top);

/* Set what the node's row is to be, for the sake of comparing: a call's
 * function, file and line, or those of a loop's rows. */
void node_key(struct fold *f, struct node *node);
/* Is it the one that fold_only() asks for, or of its recursion? */
int node_is_only(const struct fold *f, const struct node *node);
uint64_t node_mean_ns(const struct node *a);

/* Are a and b the same function's, called from the same file, or loops of such,
 * so that they may be one row? */
int node_is_kin(const struct fold *f, const struct node *a,
		const struct node *b);
/* Are they called from the same line, too?  Where a is called from several
 * lines already any is one of them. */
int node_has_lines(const struct node *a, const struct node *b);
/* Are a and b kin, and have the same lines, or are calls where is_kin_enough is
 * set?  If fold_only() asks for a it asks for b then, and they are not alike.
 */
int node_is_alike(struct fold *f, const struct node *a, struct node *b,
		  int is_kin_enough);

enum speed { AS_FAST, MUCH_SLOWER, MUCH_FASTER };
/* How b's calls are, compared with a's. */
enum speed node_speed(const struct node *a, const struct node *b);

/* b is one more of what a is: what it calls joins what a calls, or comes
 * behind that, as slow ones do.  b is empty then. */
void node_join(struct fold *f, struct node *a, struct node *b);
/* Put a linked node behind another one. */
void node_move(struct node *node, struct node *behind);
/* Put a loop's rows into its place, and free it. */
void node_dissolve(struct fold *f, struct node *loop);
/* Does a call all that b does? */
int node_has_all(struct node *a, const struct node *b);

#endif
