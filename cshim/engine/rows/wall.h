/* SPDX-License-Identifier: MIT
 *
 * The wall clock of a trace: its times leave out what gdb's stops took, the
 * wall clock does not.
 */
#ifndef ENGINE_WALL_H
#define ENGINE_WALL_H

#include "trace/loader.h"

struct wall {
	const struct cst_trace *t;
	uint64_t *paused_ns; /* before and with each pause */
};

/* Prepares w for the trace, which is borrowed.  Returns 0 or CST_MEMORY;
 * release w in any case. */
int wall_init(struct wall *w, const struct cst_trace *t);
/* Frees the memory of w. */
void wall_release(struct wall *w);

/* Returns the time of day, in ns since the epoch, at start_ns of the trace. */
uint64_t wall_ns(const struct wall *w, uint64_t start_ns);

#endif
