/* SPDX-License-Identifier: MIT
 *
 * The live view's rows that wait for the screen: a call that returns before its
 * row is handed over needs no second one.
 */
#ifndef ENGINE_PENDING_H
#define ENGINE_PENDING_H

#include "base/hashmap.h"
#include "calls/callstack.h"
#include "names/async_spans.h"
#include "recorder/screen.h"
#include "rows/fold.h"

struct pauses;

enum { PENDING_MOST = 65536 };

struct pending {
	uint64_t time; /* ticks: of the entry, or of the end when it closes */
	uint64_t start, end;
	uint64_t number;
	const struct thread *thread;
	/* Where the call whose row this is learns that it was printed. */
	struct stack *stack;
	uint32_t index;
	uint32_t site;
	uint32_t from;
	uint32_t depth;
	uint8_t kind; /* enum row_kind */
	uint8_t is_unwound;
	uint8_t is_estimated;
	uint8_t is_vetoed;
	uint8_t is_seed;
	const struct values *values; /* a reference, or NULL */
};

/* open_call.row where there is no row, and open_call.from where no caller is
 * shown. */
static const uint64_t no_row = UINT64_MAX;
static const uint32_t NO_SITE = UINT32_MAX;

struct pending_rows {
	const struct names *names;
	uint32_t ns_mult, ns_shift;
	uint64_t start_ticks; /* time 0 */
	uint64_t start_wall_ns;
	uint64_t paused_ticks; /* ticks of pauses so far, for wall times */
	const struct pauses *pauses; /* borrowed */
	int is_exact; /* rows keep step with the program: none is left out */
	int is_unordered; /* a caller's row may come behind its callees' */
	struct screen screen;
	struct fold *fold; /* NULL: rows are not folded */
	struct pending *all;
	uint32_t n;
	uint64_t first; /* number of all[0]; numbers are never reused */
	/* private */
	struct async_spans async; /* that have begun */
	int has_async;		  /* there was one */
	struct hashmap stacks;	  /* the fold's lanes, by their struct stack */
	uint32_t n_stacks;
};

/* Prepares w; names is borrowed.  Returns 0 or CST_MEMORY; release it in any
 * case. */
int pending_init(struct pending_rows *w, const struct names *names);

/* Frees the memory of w. */
void pending_release(struct pending_rows *w);

/* Returns a span of ticks in nanoseconds. */
static inline uint64_t pending_ns(const struct pending_rows *w, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * w->ns_mult >> w->ns_shift);
}

/* Returns the number of a stack's lane. */
uint32_t pending_lane(struct pending_rows *w, const struct stack *s);

/* Returns what the screen draws of p. */
struct screen_row pending_row(struct pending_rows *w, const struct pending *p);

/* Adds a row of the open call o of s, when there are fewer than PENDING_MOST,
 * and stores its number in o. */
struct pending *pending_add(struct pending_rows *w, const struct thread *t,
			    struct stack *s, struct open_call *o,
			    enum row_kind kind);

/* Stores in p that its call, of stack s, ended so. */
void pending_close(struct pending *p, const struct stack *s, uint64_t end,
		   enum call_end how);

/* Removes the row that was added last. */
void pending_drop_last(struct pending_rows *w);

/* Hands all rows to the screen.  Calls whose rows are written as open need a
 * closing row later. */
void pending_hand_over(struct pending_rows *w, uint64_t now, int is_stop);

/* Leaves out the oldest n, and what waits on the screen, which is older.  A
 * call that is open is among the callers of what follows, so it is closed by a
 * row. */
void pending_leave_out(struct pending_rows *w, uint32_t n);

/* Begins a new fold, if the screen's look wants one. */
void pending_fold(struct pending_rows *w);

/* Drops all rows: their threads and stacks are about to be freed. */
void pending_forget(struct pending_rows *w);

#endif
