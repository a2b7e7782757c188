/* SPDX-License-Identifier: MIT
 *
 * The live view: rows of the calls as they come.  A call that has returned
 * before its row is written is one row; one that is still open then gets a
 * second, closing row.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "callstack.h"
#include "row.h"

struct live_options {
	int is_on;
	enum cst_sink sink;
	int fd;
	struct cst_look look;
	uint64_t min_ns;
	uint32_t thread; /* only this one; 0: all */
};

struct live {
	struct live_options options;
	struct filter *filter; /* owned; NULL: off */
	const struct names *names;
	uint32_t ns_mult, ns_shift;
	uint64_t start_ticks; /* time 0 */
	uint64_t start_wall_ns;
	uint64_t paused_ticks; /* so far, for wall times */
	int has_threads;       /* more than one: rows have tags */
	int has_heading;
	int failed_errno; /* rows could not be written */
	void (*text)(void *arg, const char *text, uint64_t size);
	void *arg;
	/* private */
	struct pending *rows;
	uint32_t n_rows;
	uint64_t first_row; /* number of rows[0]; numbers are never reused */
	char *buffer;
	struct row_cell cell; /* as wide as rows have needed it so far */
	struct noted *noted;  /* by thread: as it was explained */
	uint32_t cap_noted;
};

int live_init(struct live *l, const struct names *names, struct cst_error *err);
void live_release(struct live *l);

/* Take new options and a filter (owned from now on); the open calls' state is
 * worked out anew. */
void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c);

/* As call_listener's functions want it; arg is the struct live. */
void live_entered(void *arg, struct thread *t, struct stack *s,
		  struct open_call *o);
void live_left(void *arg, struct thread *t, struct stack *s,
	       struct open_call *o, uint64_t end, enum call_end how);

/* Write what is pending.  now: ticks, stops left out; calls that are open for
 * min_ns by then appear. */
void live_flush(struct live *l, struct callstack *c, uint64_t now);

#endif
