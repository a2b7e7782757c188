/* SPDX-License-Identifier: MIT
 *
 * From calls to folded rows: what is called again and again is one row with a
 * count, and what it calls is shown once below it, with counts of its own.
 *
 * - Neighbours of one function that are called from one line are one row; and
 *   those called from other lines of the file, where there are three and more.
 * - A sequence of up to FOLD_PERIOD neighbours that repeats is shown once; its
 *   first row tells how many rows it has.  The last round may be cut short.
 * - A function that calls itself, or is called again by up to FOLD_CYCLE - 1
 *   others below it, is one row with the number of levels; what all the levels
 *   call is below it.
 *
 * Calls that are open, were unwound, began before the trace, were stopped in
 * by gdb, or have a colour, and whatever they are called by, are rows of their
 * own.  Those that take more than FOLD_SLOW times the mean of those that they
 * would join (and more than FOLD_SLOW_NS) are a row beside them, behind the
 * loop if they are a loop's.
 *
 * The counts of all rows add up to the number of calls.
 */
#ifndef ENGINE_FOLD_H
#define ENGINE_FOLD_H

#include "trace/callid.h"
#include "trace/view.h"

enum { FOLD_PERIOD = 16, FOLD_CYCLE = 8, FOLD_SLOW = 10, FOLD_SLOW_NS = 10000 };

/* A row.  call is the first of the calls that it stands for, with the depth
 * that the row is shown at and the sum of their durations. */
struct folded {
	struct shown call;
	uint64_t n_calls;  /* with those of the other levels of recursion */
	uint32_t n_levels; /* of recursion; 1: none */
	uint32_t n_loop;   /* this and the next rows of its depth, so many, are
			    * a loop's; 0: it does not begin one */
	/* The first and last line that they were called from, in the file of
	 * call.from; if both are equal or 0: the line of call.from. */
	uint32_t first_line, last_line;
	uint8_t has_other_values; /* their values differ */
	uint8_t is_close; /* live: the end of a call that was a row when open */
	uint8_t is_count; /* live: a row's count again, which has grown */
	uint8_t is_early; /* a count that is not due yet: row() may refuse it */
	uint64_t cookie;  /* the cookie that fold_add() got for the call */
};

struct fold;

enum { FOLD_LATER = 1 };

/* Takes the rows in the order of entry; row is valid during the call only.
 * Returns 0, a negative number, which ends the folding, or for an early count
 * FOLD_LATER: it comes again. */
typedef int (*fold_row_fn)(void *arg, const struct folded *row);

/* Returns an empty fold that passes its rows to row(arg, ...), or NULL when out
 * of memory.  names is borrowed until fold_free(), which the caller calls. */
struct fold *fold_new(const struct names *names, fold_row_fn row, void *arg);

/* Frees f, which may be NULL. */
void fold_free(struct fold *f);

/* Restricts the rows to the calls that the row of this ID stands for, each with
 * what it calls, as rows of their own.  thread is the index of the ID's thread,
 * as in struct shown.  Call it before the first fold_add(). */
void fold_only(struct fold *f, uint32_t thread, const struct callid *id);

/* Adds a copy of the next call in the order of entry; its row gets the cookie.
 * Returns 0, CST_MEMORY, or the negative number that row() returned. */
int fold_add(struct fold *f, const struct shown *call, uint64_t cookie);

/* Ends the folding and passes all rows that remain to row().  Returns as
 * fold_add() does. */
int fold_end(struct fold *f);

/* ---- for fold_live.c and fold_node.c --------------------------------------
 */

struct lane_state;
struct node;

/* Returns the lane's state, which f owns and which is made if there is none, or
 * NULL when out of memory. */
struct lane_state *fold_lane(struct fold *f, uint32_t lane);
/* Ends the lane's innermost open call, which must exist.  This and the
 * functions below return as fold_add() does. */
int fold_pop_level(struct fold *f, struct lane_state *l);
/* Ends the lane's open calls at this depth and deeper. */
int fold_pop_lane(struct fold *f, struct lane_state *l, uint32_t depth);

/* Passes the node's row to row(); a loop has none, nor has what fold_only()
 * left out.  The node counts as given. */
int fold_give_row(struct fold *f, struct node *node);
/* Passes the rows of a complete node and of all nodes below it to row(). */
int fold_give_all(struct fold *f, struct node *top);

/* Returns whether the call may be in one row with others: it began in the
 * trace, has returned, gdb did not stop the program in it, and it has no colour
 * of its own. */
int fold_is_foldable(const struct shown *call);

#endif
