/* SPDX-License-Identifier: MIT
 *
 * All calls of a choice as a graph of functions: how long each took, and which
 * functions called it from which call site.  As in a report, time spent in a
 * function counts once where it calls itself, directly or not.
 */
#ifndef ENGINE_GRAPH_H
#define ENGINE_GRAPH_H

#include "base/pairs.h"
#include "trace/loader.h"
#include "trace/total.h"

enum { NO_CALLER = UINT32_MAX }; /* of an outermost call */

struct graph_arc {
	uint64_t n_calls;
	/* The time of the calls whose function was not open already. */
	uint64_t total_ns;
};

/* Zeroed: empty.  Arc i leads from the function arcs.all[i].a, or NO_CALLER,
 * through the call site arcs.all[i].b. */
struct graph {
	struct total *functions; /* by number in names */
	struct pairs arcs;
	struct graph_arc *sums; /* by arc */
	uint32_t cap;
	uint64_t total_ns; /* of the outermost calls */
	int64_t n_calls;
	uint8_t is_stopped; /* gdb stopped the program in one of them */
};

/* Makes the graph of the choice's calls; g need not be zeroed.  Returns 0 or a
 * negative status; release g in any case. */
int graph_make(struct graph *g, const struct cst_trace *t,
	       const struct cst_choice *choice, struct cst_error *err);

/* Frees the memory of g. */
void graph_release(struct graph *g);

#endif
