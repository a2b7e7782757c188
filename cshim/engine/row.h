/* SPDX-License-Identifier: MIT
 *
 * One line of output text, saved or live.  Names are escaped here: whatever
 * is not printable (control characters, invalid UTF-8) comes out as \xNN.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "names.h"
#include "cstrace/engine.h"

enum row_kind {
	ROW_CALL,  /* a call that ended: with its duration */
	ROW_OPEN,  /* a call that is open */
	ROW_CLOSE, /* live only: the end of a call that was printed open */
};

struct row {
	enum row_kind kind;
	uint8_t is_unwound;
	uint8_t is_seed;  /* began before the trace: no time */
	uint32_t depth;	  /* of visible calls */
	uint64_t time_ns; /* since the trace began, or wall clock: as the look
			   * says */
	uint64_t duration_ns;
	const struct names *names;
	uint32_t site;
	const char *thread_name; /* NULL: only one thread, no column */
	uint32_t tid;
	uint32_t thread_color; /* ordinal, picks the colour */
	uint32_t thread_width; /* of "[name tid]" padded; 0: the usual 18 */
	uint64_t n_folded;     /* 0 or 1: one call; else so many alike */
};

/* Write the row with its newline at `out`; returns its length.  ROW_MAX bytes
 * always suffice: names are cut, and calls deeper than ROW_LEVELS are told
 * their depth by a number instead. */
enum { ROW_MAX = 8192, ROW_LEVELS = 256 };
uint64_t row_format(const struct row *row, const struct cst_look *look,
		    char *out);

/* The two heading lines above the rows ("#" first), likewise.  has_threads: 0,
 * 1, or the thread column's width as in thread_width. */
uint64_t row_heading(const struct cst_look *look, int has_threads, char *out);

/* A row in two halves, for whoever writes millions of calls: times, thread and
 * tree, which change with each, and "function  file:line\n", which is the
 * same for all calls of a site that returned (at most ROW_SUFFIX_MAX bytes).
 * Both return the place behind what they wrote. */
enum { ROW_SUFFIX_MAX = 5632 };
char *row_put_prefix(const struct row *row, const struct cst_look *look,
		     char *out);
char *row_put_suffix(const struct row *row, const struct cst_look *look,
		     char *out);

/* Any text with what is not printable escaped, cut at `room` bytes. */
char *row_put_text(char *out, const char *text, unsigned room);

#endif
