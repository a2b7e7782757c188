/* SPDX-License-Identifier: MIT
 *
 * Samples of the program become nodes of a tree of stacks and go to the trace
 * file.
 */
#ifndef ENGINE_SAMPLING_H
#define ENGINE_SAMPLING_H

#include "area/sample_area.h"
#include "base/hashmap.h"
#include "cstrace/engine.h"

/* A process of the samples, as the recorder knows it. */
struct sampled {
	uint32_t process;   /* its index in the area; UINT32_MAX: not asked */
	uint64_t looked_ns; /* when its maps were last read */
	struct hashmap places; /* by address; the number + 1 */
};

/* A node is what a stack of frames leads to. */
struct sampling {
	struct sample_area *area; /* NULL: nothing is sampled */
	struct sampled processes[CST_SAMPLED_PROCESSES];
	struct hashmap nodes; /* by caller's node and place */
	uint32_t n_places, n_nodes;
	uint32_t unknown;     /* function that stands for no known code, + 1 */
	uint64_t n_samples;   /* of this trace, with their weights */
	uint64_t n_taken;     /* signals */
	uint64_t n_lost;      /* as last reported */
	uint32_t told_source; /* + 1 */
	struct sample sample;
};

struct cst_recorder;

/* Takes the samples that wait; returns how many.  Under the lock. */
uint32_t sampling_round(struct cst_recorder *r);
/* A new trace begins: it knows no places and nodes yet. */
void sampling_forget(struct sampling *s);
/* Frees what belongs to s. */
void sampling_release(struct sampling *s);

#endif
