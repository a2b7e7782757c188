/* SPDX-License-Identifier: MIT
 *
 * Where live rows go.  A file or pipe gets all of them, and is waited for.  A
 * terminal, or gdb's own window, is not: a traced program must not run at the
 * pace at which rows can be drawn.
 */
#ifndef ENGINE_OUTLET_H
#define ENGINE_OUTLET_H

#include "base/bytes.h"
#include "cstrace/engine.h"

#include <pthread.h>

struct outlet {
	enum cst_sink sink;
	/* Rows may be left out if it does not keep up. */
	uint8_t is_slow;
	int failed_errno; /* of the write that failed */
	/* When the descriptor last accepted rows, in monotonic ns; other
	 * threads read it. */
	uint64_t written_ns;
	/* The sink CST_SINK_CALLBACK. */
	void (*text)(void *arg, const char *text, uint64_t size);
	const uint32_t *busy; /* not 0: the last text is not shown yet */
	void *arg;
	/* private */
	pthread_t owner; /* who turned it: may wait for what it wrote itself */
	int fd;		 /* borrowed */
	int own_fd; /* the terminal, opened again so that it can say that it
		     * takes no more; or -1 */
	struct bytes rest;
};

/* How long to wait for an outlet that is slow. */
enum { OUTLET_NOT = 0, OUTLET_FOREVER = -1 };

/* Prepares o, which goes nowhere yet. */
void outlet_init(struct outlet *o);
/* Sends the rows there from now on (fd is borrowed); what was not written yet
 * is dropped. */
void outlet_turn(struct outlet *o, enum cst_sink sink, int fd);

/* Frees the memory of o, and closes what it opened itself. */
void outlet_release(struct outlet *o);

/* Writes complete rows.  What a slow outlet does not accept at once is kept and
 * written first next time.  It is given up for now if it accepts nothing for
 * patience_ms. */
void outlet_put(struct outlet *o, const char *text, uint64_t size,
		int patience_ms);
/* Returns 1 if the functions of a CST_SINK_CALLBACK are not to be called now:
 * its last text is not shown, and this is not the thread that turned it. */
int outlet_is_busy(const struct outlet *o);
/* Returns how many columns the terminal has now; 0 if it is none. */
unsigned outlet_width(const struct outlet *o);
/* Returns 1 if all that was put is written, or gdb has it: more can be put.
 * Else waits for that for at most patience_ms. */
int outlet_is_ready(struct outlet *o, int patience_ms);

#endif
