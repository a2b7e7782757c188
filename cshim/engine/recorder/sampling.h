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
#include "recorder/sleepers.h"

/* A process of the samples, as the recorder knows it. */
struct sampled {
	uint32_t process;   /* its index in the area; UINT32_MAX: not asked */
	uint64_t looked_ns; /* when its maps were last read */
	uint64_t begin_ns;  /* when it was first seen */
	uint64_t vdso_start, vdso_end; /* end 0: not looked for */
	struct hashmap places;	       /* by address; the number + 1 */
};

/* A node is what a stack of frames leads to. */
struct sampling {
	struct sample_area *area; /* NULL: nothing is sampled */
	struct sampled processes[CST_SAMPLED_PROCESSES];
	struct hashmap nodes; /* by caller's node and place */
	uint32_t n_places, n_nodes;
	uint32_t unknown[2]; /* functions that stand for no known code, and for
				the kernel's in the process, + 1 */
	uint64_t n_samples;  /* of this trace, with their weights */
	uint64_t n_taken;    /* signals */
	uint64_t n_lost;     /* as last reported */
	uint32_t reported_source; /* + 1 */
	struct sample sample;
	struct sleepers sleepers;
	uint64_t for_ns; /* a process is sampled for so long; 0: all along */
};

struct cst_recorder;

/* Takes the samples that wait; returns how many.  Under the lock. */
uint32_t sampling_round(struct cst_recorder *r);
/* How soon the next round is due, in microseconds; at most `usual`. */
uint32_t sampling_rest_us(const struct sampling *s, uint32_t usual);

/* ---- for sleepers.c ---- */

/* Returns whether the process of that index is sampled now; *pid is set. */
int sampling_is_on(struct cst_recorder *r, uint32_t index, uint32_t *pid);
/* Its code; NULL: not known. */
struct modules *sampling_modules(struct cst_recorder *r, uint32_t index);
/* The ticks of a sample. */
uint64_t sampling_period(const struct sampling *s);
/* Returns the node of the sample's stack. */
uint32_t sampling_node(struct cst_recorder *r, const struct sample *sample);
/* Adds a sample of now. */
void sampling_count(struct cst_recorder *r, uint32_t index, uint32_t tid,
		    uint32_t node, uint32_t weight, int is_cut);

/* A new trace begins: it knows no places and nodes yet. */
void sampling_forget(struct sampling *s);
/* Frees what belongs to s. */
void sampling_release(struct sampling *s);

#endif
