/* SPDX-License-Identifier: MIT
 *
 * The samples of a trace and the tree of stacks that they name, as the file has
 * them.
 */
#ifndef ENGINE_SAMPLES_H
#define ENGINE_SAMPLES_H

#include "base/bytes.h"

#include <stdint.h>

struct sample_place {
	uint64_t addr; /* in the process; 0: not known */
	uint32_t function;
};

/* Nodes are numbered from 1; parent 0: nobody called it. */
struct sample_node {
	uint32_t parent, place;
};

struct trace_sample {
	uint64_t tick;
	uint32_t thread; /* index of the trace's */
	uint32_t node;	 /* 0: its stack is not known */
	uint32_t weight;
	uint8_t is_cut; /* outer frames are missing */
};

struct trace_samples {
	struct sample_place *places;
	struct sample_node *nodes;     /* nodes[0] is not used */
	struct trace_sample *all;      /* in the file's order */
	uint32_t n_places, n_nodes, n; /* n_nodes counts nodes[0] */
	uint32_t cap_places, cap_nodes, cap;
	uint32_t hz, clock, source; /* as the file says last */
	uint64_t weight;	    /* of all samples */
	uint64_t n_lost;
	uint64_t last_tick;
};

/* Frees the memory of s and zeroes it. */
void samples_release(struct trace_samples *s);

/* Read the contents of one block; the numbers of functions and threads in it
 * are checked.  Return 0, CST_BAD_FILE if it is damaged, or CST_MEMORY. */
int samples_read_stacks(struct trace_samples *s, struct cursor *c,
			uint32_t n_functions);
int samples_read(struct trace_samples *s, struct cursor *c, uint32_t n_threads);

/* Returns the function of a node, which is not 0. */
static inline uint32_t samples_function(const struct trace_samples *s,
					uint32_t node)
{
	return s->places[s->nodes[node].place].function;
}

/* Returns how long so many samples are, in ns: what one stands for is the time
 * between two of them. */
static inline uint64_t samples_ns(const struct trace_samples *s, uint64_t n)
{
	return s->hz ? (uint64_t)((unsigned __int128)n * 1000000000 / s->hz)
		     : 0;
}

#endif
