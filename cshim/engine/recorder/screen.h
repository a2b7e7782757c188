/* SPDX-License-Identifier: MIT
 *
 * Live rows on their way to an outlet.  A slow outlet gets no more than it can
 * accept, nor more than costs the program too much: the oldest rows that wait
 * are left out, and a note stands in their place, with the callers of the next
 * rows.
 */
#ifndef ENGINE_SCREEN_H
#define ENGINE_SCREEN_H

#include "calls/callstack.h"
#include "recorder/outlet.h"
#include "recorder/trail.h"
#include "rows/row.h"

/* A row that waits. */
struct screen_row {
	uint64_t at;	  /* in the order of this, then as they came */
	uint64_t time_ns; /* as it is shown */
	uint64_t duration_ns;
	uint64_t number;
	uint64_t n_calls;
	const struct thread *thread;
	uint32_t lane; /* any number, one for each lane */
	uint32_t site;
	uint32_t from; /* as in struct row */
	uint32_t depth;
	/* as struct folded has them */
	uint32_t first_line, last_line, n_levels, n_loop;
	uint32_t order;
	uint8_t kind; /* enum row_kind */
	uint8_t is_unwound;
	uint8_t is_estimated;
	uint8_t is_seed;
	/* as in struct row; while a row waits it has a reference of its own */
	uint8_t is_stopped, is_vetoed, has_other_values;
	const struct values *values;
};

/* So many lines are there on any terminal. */
enum { COUNTED_LINES = 16 };

struct screen {
	struct outlet outlet;
	struct cst_look look;
	const struct names *names; /* borrowed */
	int has_threads;	   /* more than one: rows have tags */
	int is_folded;
	int has_heading;
	int has_stop_note;
	/* private */
	struct screen_row *rows;
	uint32_t n, cap;
	/* The rows left out that no note counts yet, and the first of them. */
	uint64_t n_left_out;
	struct screen_row first_left_out;
	struct trails trails;
	uint64_t reported_at_ns;
	double credit;	       /* rows that may be written now */
	struct cst_look drawn; /* the look, its width in columns */
	struct row_cell cell;
	struct noted *noted; /* by thread: as it was explained */
	uint32_t cap_noted;
	struct bytes text;
	/* The last lines on a terminal, as long as they are counts: each is
	 * written over when it has grown. */
	struct counted {
		const struct thread *thread;
		uint64_t number;
	} counted[COUNTED_LINES];
	uint32_t n_counted;
	/* How many counts were lines of their own since then. */
	uint32_t n_new_counts;
	uint64_t new_counts_ns;
	uint64_t others_wrote; /* what others() returned then */
	/* Returns a number that is another one once somebody else may have
	 * written to the terminal; UINT64_MAX: not known.  NULL: likewise. */
	uint64_t (*others)(void *arg);
	void *others_arg; /* borrowed */
};

/* Prepares s; names is borrowed. */
void screen_init(struct screen *s, const struct names *names);

/* Frees the memory of s. */
void screen_release(struct screen *s);

/* Adds a row that waits.  Returns 0, or CST_MEMORY: the row is left out. */
int screen_add(struct screen *s, const struct screen_row *row);
/* Adds a row behind the one of its lane that was last added so, whichever came
 * first in time: a folded row's callees are below it. */
int screen_add_behind(struct screen *s, struct screen_row *row);
/* Returns whether a count may be added although it has grown less than a second
 * ago: on a terminal, as long as most are written over their last lines. */
int screen_may_count(struct screen *s);
/* Leaves out all rows that wait. */
void screen_leave_out(struct screen *s);
/* Leaves out a row, the next of its lane, without its waiting here: those that
 * waited were left out before it. */
void screen_pass(struct screen *s, const struct screen_row *row);
/* Writes what waits, or as much of it as the outlet accepts.  is_stop: the
 * program stands still, so the outlet can be waited for, and the newest rows
 * are written in any case. */
void screen_write(struct screen *s, int is_stop, int patience_ms);
/* Counts n rows as left out that were never made; the first is the call of this
 * number. */
void screen_count(struct screen *s, const struct thread *t, uint64_t number,
		  uint64_t n);
/* Drops all that waits: its threads are about to be freed. */
void screen_clear(struct screen *s);

#endif
