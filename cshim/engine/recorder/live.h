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

#include "names/where.h"
#include "recorder/pending.h"

struct live_options {
	int is_on;
	enum cst_sink sink;
	int fd;
	struct cst_look look;
	uint64_t min_ns;
	uint32_t thread;     /* show only this thread; 0: all */
	uint32_t keep_depth; /* show no more levels of a stack; 0: all */
};

/* The choice's from and until, as the calls come: the span from the first call
 * of one function up to that of another. */
struct live_span {
	char *from, *until; /* or NULL: not asked for */
	uint8_t has_from, has_until;
	uint64_t from_ticks, until_ticks; /* once they were called */
};

struct live {
	struct live_options options;
	struct filter *filter; /* owned; NULL: off */
	struct live_span span;
	struct where *where; /* owned; NULL: calls of any values */
	const struct names *names;
	struct pending_rows rows;
	/* is_flooded: more rows come than can be shown.  is_passing: calls are
	 * passed now.  is_held: rows wait, for one may get its colour first. */
	uint8_t is_flooded, is_passing, is_held;
	/* private */
	uint8_t *hides; /* by site: its function's calls have no rows */
	uint32_t n_hides;
	uint8_t has_hidden;   /* any of them */
	uint64_t n_passed;    /* since the last picture */
	uint64_t counted_row; /* number of the next row at the last picture */
	uint64_t drawn_ns;    /* the last picture */
};

/* Prepares l; names is borrowed.  Returns 0 or CST_MEMORY. */
int live_init(struct live *l, const struct names *names, struct cst_error *err);

/* Frees the memory of l, and its filter. */
void live_release(struct live *l);

/* Sets new options and a filter, which l owns from now on (NULL: no view);
 * works out the state of the open calls again. */
void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c);

/* Sets what from and until look for (both are copied; both NULL: nothing, as
 * for a new trace).  What was found stays while the words stay equal.  Returns
 * 0, or CST_MEMORY. */
int live_set_span(struct live *l, const char *from, const char *until);

/* Shows only calls whose arguments meet the condition, which l owns from now
 * on; NULL: all.  To be called before live_set(). */
void live_set_where(struct live *l, struct where *where);

/* Writes the rows that are pending: all, or, where the outlet is slow and
 * is_exact is not set, some of them, now or later.  now is in ticks, without
 * stops; calls that are open for min_ns by then appear. */
void live_flush(struct live *l, struct callstack *c, uint64_t now);
/* Returns whether the next picture is due. */
int live_is_due(const struct live *l);
/* For a flood: calls from live_pass() up to live_listen() have no rows.
 * live_passed() reports each run of n records, with n_calls calls, after it was
 * consumed. */
void live_pass(struct live *l, struct callstack *c);
void live_passed(struct live *l, const struct callstack *c,
		 const struct thread *t, const struct cst_record *records,
		 uint32_t n, uint64_t n_calls);
void live_listen(struct live *l, struct callstack *c);
/* Writes everything, when the program stands still; unless is_exact, a slow
 * outlet is given up when it accepts nothing for patience_ms, and of very many
 * rows the oldest are left out. */
enum { LIVE_STOP_MS = 1000 };
void live_settle(struct live *l, struct callstack *c, uint64_t now,
		 int patience_ms);
/* The call that t has left last got its colour: if its row is on the screen
 * already, a row of its end follows. */
void live_mark_ended(struct live *l, struct thread *t, struct stack *s,
		     struct open_call *o);
/* Drops all references to the trace's calls and threads, which are about to be
 * freed. */
void live_forget(struct live *l);

#endif
