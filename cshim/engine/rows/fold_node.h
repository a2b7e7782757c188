/* SPDX-License-Identifier: MIT
 *
 * A node of the tree of calls that are folded: calls side by side that are
 * one row, or a loop with its rows below it.
 */
#ifndef ENGINE_FOLD_NODE_H
#define ENGINE_FOLD_NODE_H

#include "trace/view.h"

enum {
	/* How many nodes are looked through for an equal one where the order
	 * makes no difference. */
	MAX_KINDS = 64,
};

struct fold;

struct node {
	struct shown call;
	uint64_t cookie;
	uint64_t order; /* of entry */
	uint64_t key;
	uint64_t text; /* hash of the values, where these make it what it is */
	uint64_t n;    /* calls side by side, or rounds of a loop */
	uint64_t n_calls;
	uint64_t n_given,
		given_ns; /* live: n_calls in its last row, and when */
	struct node *above, *first, *last, *next, *previous;
	/* Where its calls are made, which is known when it is complete: lines
	 * from first_line to last_line of the file. */
	const char *file;
	uint32_t first_line, last_line;
	uint32_t function;
	uint32_t n_levels;
	uint32_t period; /* not 0: a loop, its rows are below it */
	uint32_t height;
	uint8_t has_other_values; /* its calls' differ */
	uint8_t is_own;		  /* it joins no other */
	uint8_t is_complete;	  /* it has ended, or is treated so */
	uint8_t is_given;	  /* its row was passed to row() */
	uint8_t is_aside; /* much slower than what it would join; skipped when
			     calls are compared with those before */
	uint8_t is_only;  /* fold_only()'s, with all below */
};

/* Returns a new node of one call, which f owns, or NULL when out of memory. */
struct node *node_new(struct fold *f);

/* Makes the node, which is not linked, the last one below `above`. */
void node_append(struct node *above, struct node *node);
/* Unlinks and frees the node and all below it. */
void node_drop(struct fold *f, struct node *node);
/* Frees the memory of all nodes. */
void node_free_all(struct fold *f);
/* Returns the next node in order of entry, or NULL behind the last one below
 * `top`. */
struct node *node_after(const struct node *node, const struct node *top);

/* Sets the node's key, by which it is compared: a hash of its call's function
 * and file, or of the keys of a loop's rows.  Sets height, and is_own if a node
 * below it has that or it is too high; the key is then like no other. */
void node_key(struct fold *f, struct node *node);
/* Returns whether it is the node that fold_only() asks for, or joins it.  Only
 * called if f->has_only is set. */
int node_is_only(const struct fold *f, const struct node *node);

/* Returns the mean duration of a's calls, in ns. */
uint64_t node_mean_ns(const struct node *a);

/* Returns whether b, kin to a, is also called from a's line.  If a is called
 * from several lines already, any line is one of them. */
int node_has_lines(const struct node *a, const struct node *b);
/* Returns whether a and b are kin and have the same lines, or are calls while
 * is_kin_enough is set.  If fold_only() asks for a, then it asks for b from now
 * on, and they are not alike. */
int node_is_alike(struct fold *f, const struct node *a, struct node *b,
		  int is_kin_enough);

enum speed { AS_FAST, MUCH_SLOWER, MUCH_FASTER };
/* Returns how fast b's calls are, compared with a's. */
enum speed node_speed(const struct node *a, const struct node *b);

/* Joins b to a: what b calls joins what a calls, or comes behind it, as slow
 * calls do.  Nothing is below b then; the caller drops it. */
void node_join(struct fold *f, struct node *a, struct node *b);
/* Moves a linked node directly behind another one. */
void node_move(struct node *node, struct node *behind);
/* Replaces a loop by the rows below it, and frees it. */
void node_dissolve(struct fold *f, struct node *loop);
/* Returns whether a has a row for each row below b: none of b's calls is new,
 * or is much slower than those of a. */
int node_has_all(struct node *a, const struct node *b);

#endif
