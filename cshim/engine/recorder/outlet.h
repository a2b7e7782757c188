/* SPDX-License-Identifier: MIT
 *
 * Where live rows go.  Files and pipes get all of them, and are waited for.
 * Terminals, and gdb's own windows, are not: a program that is traced must not
 * run at the pace at which rows can be drawn.
 */
#ifndef ENGINE_OUTLET_H
#define ENGINE_OUTLET_H

#include "base/bytes.h"
#include "cstrace/engine.h"

struct outlet {
	enum cst_sink sink;
	/* May rows be left out, where it does not keep up? */
	uint8_t is_slow;
	int failed_errno; /* of the write that failed */
	/* When the descriptor last took rows, monotonic; other threads read
	 * it. */
	uint64_t written_ns;
	/* The sink CST_SINK_CALLBACK. */
	void (*text)(void *arg, const char *text, uint64_t size);
	int (*is_busy)(void *arg);
	void *arg;
	/* private */
	int fd;	    /* borrowed */
	int own_fd; /* the terminal, opened again so that it can say that it
		     * takes no more; or -1 */
	struct bytes rest;
};

/* How long to wait for an outlet that is slow. */
enum { OUTLET_NOT = 0, OUTLET_FOREVER = -1 };

void outlet_init(struct outlet *o);
/* Rows go there from now on; what was not written yet is dropped. */
void outlet_turn(struct outlet *o, enum cst_sink sink, int fd);
void outlet_release(struct outlet *o);

/* Write whole rows.  What a slow outlet does not take at once is kept and
 * written first next time.  patience_ms: so long it may take nothing before it
 * is given up for now. */
void outlet_put(struct outlet *o, const char *text, uint64_t size,
		int patience_ms);
/* Columns of the terminal that it is, now; 0: it is none. */
unsigned outlet_width(const struct outlet *o);
/* 1: what was put is written, or gdb has it: more can be put. */
int outlet_is_ready(struct outlet *o, int patience_ms);

#endif
