/* SPDX-License-Identifier: MIT
 *
 * One line of output text, saved or live.  Names are escaped here: what is not
 * printable (control characters, invalid UTF-8) becomes \xNN.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "cstrace/engine.h"
#include "names/names.h"
#include "names/values.h"

enum row_kind {
	ROW_CALL,  /* a call that ended: with its duration */
	ROW_OPEN,  /* a call that is open */
	ROW_CLOSE, /* live only: the end of a call that was printed open */
	ROW_COUNT, /* live only: a folded row's count, which has grown */
};

/* The cell between times and tree: the call's ID, "2.42", or the thread's tag,
 * "t2", if the look has no IDs.  An ID's first number is the thread's. */
struct row_cell {
	uint8_t width;	     /* in all rows; 0: there is no cell */
	uint8_t has_threads; /* there are several threads, so each has a tag */
};

struct row {
	enum row_kind kind;
	uint8_t is_unwound;
	uint8_t is_seed;      /* began before the trace: no time */
	uint8_t is_stopped;   /* gdb stopped the program meanwhile */
	uint8_t is_estimated; /* it took no longer than duration_ns */
	uint8_t is_vetoed;    /* with is_unwound: its body did not run */
	uint8_t is_again;     /* live only: a caller's row once more, as a note
			       * that begins with "#" */
	uint32_t depth;	      /* of visible calls */
	uint64_t time_ns;     /* since the trace began, or of the wall clock, as
			       * the look's timestamp says */
	uint64_t duration_ns;
	const struct names *names;
	uint32_t site;
	uint32_t from; /* the site whose file and line are shown */
	/* The function that is shown as the caller, and one more; 0: none is,
	 * as where the tree shows it. */
	uint32_t caller;
	/* The parts of its ID: two ordinals, and the call's number. */
	uint32_t process, thread;
	uint64_t number;
	struct row_cell cell;
	const struct values *values; /* or NULL; borrowed */
	uint8_t has_other_values;    /* the calls that are folded differ */
	uint32_t thread_color;	     /* an ordinal, which chooses the colour */
	uint64_t n_folded; /* 0 or 1: one call; else so many in one row */
	/* The first and last line that a folded row's calls are made from;
	 * else equal. */
	uint32_t first_line, last_line;
	uint32_t n_levels; /* of recursion, where it is more than one */
	uint32_t n_loop;   /* more than 1: it begins a loop of so many rows
			    * of its depth */
};

/* Writes the row with its newline at `out`, cut to the look's width; returns
 * its length.  ROW_MAX bytes always suffice: names are cut, and a number shows
 * the depth where the tree would need more than ROW_BLANKS blanks (less in a
 * narrow row). */
enum { ROW_MAX = 16384, ROW_BLANKS = 40 };
uint64_t row_format(const struct row *row, const struct cst_look *look,
		    char *out);

/* Returns the look without the columns for which rows of its width have no
 * room: the start in less than 80 columns, the duration in less than 48. */
struct cst_look row_look(const struct cst_look *look);

/* Returns how many blanks show the depth: two a level, but one a level deep in
 * the tree, where names want the room. */
uint32_t row_tree_blanks(uint32_t depth);

/* Writes the two heading lines above the rows ("#" first) at `out`; returns
 * their length. */
uint64_t row_heading(const struct cst_look *look, const struct row_cell *cell,
		     int is_folded, char *out);

/* Writes the titles of the columns, the second of these lines; calls_title is
 * that of the last column. */
uint64_t row_titles(const struct cst_look *look, const struct row_cell *cell,
		    const char *calls_title, char *out);

/* Returns the cell of the trace's rows, as wide as the widest of them may
 * need. */
struct row_cell row_cell_of(const struct cst_trace *t,
			    const struct cst_look *look);

/* Return the widths in columns that a thread's tag and a call's ID need. */
unsigned row_tag_width(uint32_t process, uint32_t thread);
unsigned row_id_width(uint32_t process, uint32_t thread, uint64_t number,
		      int is_seed);

/* Writes "# t2: worker (1234)\n", which explains a tag, with ", IDs 2.N" where
 * rows have IDs, at out; returns its length. */
uint64_t row_note(uint32_t process, uint32_t thread, const char *name,
		  uint32_t tid, const struct cst_look *look, char *out);

/* Write the note that explains the mark of is_stopped, for rows of calls and
 * for rows of sums; return its length, below 200 bytes. */
uint64_t row_stop_note(char *out);
uint64_t row_stops_note(char *out);
/* Writes ROW_MIXED_NOTE and a newline, for rows of several threads in which
 * nothing names the thread; returns the length. */
uint64_t row_mixed_note(char *out);
#define ROW_MIXED_NOTE "# several threads, not told apart"

/* Write a row in two halves, for code that writes millions of calls, and to no
 * terminal: nothing is cut to the look's width.  The prefix
 * (times, cell and tree) changes with each call; the suffix, "function
 * file:line\n", of at most ROW_SUFFIX_MAX bytes, is equal for all calls of a
 * site that returned.  Both return the place behind what they wrote. */
enum { ROW_SUFFIX_MAX = 13312 };
char *row_put_prefix(const struct row *row, const struct cst_look *look,
		     char *out);
char *row_put_suffix(const struct row *row, const struct cst_look *look,
		     char *out);

/* Writes a function's name as rows have it (names_shown()), escaped and cut at
 * `room` bytes, with its mark behind; how is an enum cst_names.  Returns the
 * place behind it. */
char *row_put_function(char *out, const struct names *names, uint32_t function,
		       int how, unsigned room);

/* Writes a thread's tag, "t3", or "p2:t3" where it is not of the first process;
 * returns the place behind it. */
char *row_put_thread(char *out, uint32_t process, uint32_t ordinal);

/* Writes text with what is not printable escaped, cut at `room` bytes; returns
 * the place behind it. */
char *row_put_text(char *out, const char *text, unsigned room);

#endif
