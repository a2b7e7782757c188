/* SPDX-License-Identifier: MIT
 *
 * The live view: rows of the calls as they come.  A call that has returned
 * before its row is written is one row; one that is still open then gets a
 * second, closing row.  Where rows go to an outlet that may be slow they wait
 * for the next of its pictures, some 12 a second, or for a stop.
 *
 * In a flood, when far more rows come than such an outlet can take, most calls
 * are passed: the reader takes their records as it does without a live view,
 * and only their number is known here.  A picture then has rows of what came
 * just before it.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "base/hashmap.h"
#include "calls/callstack.h"
#include "recorder/screen.h"
#include "rows/fold.h"

struct live_options {
	int is_on;
	enum cst_sink sink;
	int fd;
	struct cst_look look;
	uint64_t min_ns;
	uint32_t thread;     /* only this one; 0: all */
	uint32_t keep_depth; /* no more levels of a stack; 0: all */
};

/* From the first call of one function on, up to that of another: the choice's
 * from and until, as the calls come. */
struct live_span {
	char *from, *until; /* or NULL: not asked for */
	uint8_t has_from, has_until;
	uint64_t from_ticks, until_ticks; /* once they were called */
};

struct pauses;

struct live {
	struct live_options options;
	struct filter *filter; /* owned; NULL: off */
	struct live_span span;
	const struct names *names;
	uint32_t ns_mult, ns_shift;
	uint64_t start_ticks; /* time 0 */
	uint64_t start_wall_ns;
	uint64_t paused_ticks;	     /* so far, for wall times */
	const struct pauses *pauses; /* borrowed */
	int is_exact; /* rows keep step with the program: none is left out */
	struct screen screen;
	struct fold *fold;     /* NULL: rows are not folded */
	struct hashmap stacks; /* the fold's lanes, by their struct stack */
	uint32_t n_stacks;
	/* More rows come than can be shown; and calls are passed just now. */
	uint8_t is_flooded, is_passing;
	/* private */
	uint8_t *hides; /* by site: its function's calls have no rows */
	uint32_t n_hides;
	uint8_t has_hidden;   /* any of them */
	uint64_t n_passed;    /* since the last picture */
	uint64_t counted_row; /* number of the next row at the last picture */
	struct pending *rows;
	uint32_t n_rows;
	uint64_t first_row; /* number of rows[0]; numbers are never reused */
	uint64_t drawn_ns;  /* the last picture */
};

int live_init(struct live *l, const struct names *names, struct cst_error *err);
void live_release(struct live *l);

/* Take new options and a filter (owned from now on); the open calls' state is
 * worked out anew. */
void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c);

/* What is looked for with from and until; what was found stays while the words
 * are the same, and is forgotten for a new trace (both NULL). */
int live_set_span(struct live *l, const char *from, const char *until);

/* As call_listener's functions want it; arg is the struct live. */
void live_entered(void *arg, struct thread *t, struct stack *s,
		  struct open_call *o);
void live_left(void *arg, struct thread *t, struct stack *s,
	       struct open_call *o, uint64_t end, enum call_end how);

/* Write what is pending, or some of it, or later, where the outlet is slow and
 * is_exact is not set.  now: ticks, stops left out; calls that are open for
 * min_ns by then appear. */
void live_flush(struct live *l, struct callstack *c, uint64_t now);
/* Is the next picture due? */
int live_is_due(const struct live *l);
/* In a flood: calls that are taken from now on, up to live_listen(), have no
 * rows.  Each run of records is told once it was taken: n, with n_calls calls.
 */
void live_pass(struct live *l, struct callstack *c);
void live_passed(struct live *l, const struct callstack *c,
		 const struct thread *t, const struct cst_record *records,
		 uint32_t n, uint64_t n_calls);
void live_listen(struct live *l, struct callstack *c);
/* The program stands still: write all, but for what a slow outlet does not take
 * in STOP_MS, and of many rows the oldest. */
enum { LIVE_STOP_MS = 1000 };
void live_settle(struct live *l, struct callstack *c, uint64_t now,
		 int patience_ms);
/* The trace's calls and threads are about to go. */
void live_forget(struct live *l);

#endif
