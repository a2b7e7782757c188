/* SPDX-License-Identifier: MIT
 *
 * All calls of a trace, in runs of one lane: in order of start over all lanes
 * (those open before the trace first), or lane after lane.  A block is unpacked
 * when its turn comes and dropped after its last call.
 */
#ifndef ENGINE_WALK_H
#define ENGINE_WALK_H

#include "names/values.h"
#include "names/where.h"
#include "trace/decode.h"

struct walk;

struct run {
	uint32_t lane;
	uint32_t n;
	const struct packed_call *calls; /* late ends filled in */
	/* Call i has number numbers[i], or first_number + i when NULL; likewise
	 * thread threads[i], or thread. */
	const uint64_t *numbers;
	const uint32_t *threads;
	const struct block_values *values; /* of the block; NULL: none */
	uint64_t first_number;
	uint32_t thread;
	uint8_t is_last;    /* the lane ends with it */
	uint8_t is_midway;  /* the lane's first one, but calls of it come before
			     * (see callers.h) */
	uint32_t block, at; /* where its first call is */
};

/* The part of a trace that is walked; zeroed: everything. */
struct walk_part {
	uint64_t from;	      /* tick: only calls that start then or later */
	uint64_t until;	      /* and hardly any after this one; 0: to the end */
	const uint8_t *lanes; /* for each whether it is, or NULL; borrowed */
};

/* Returns the part of t that is the choice's range. */
struct walk_part walk_range(const struct cst_trace *t,
			    const struct cst_choice *choice);

/* Begin to walk t, or a part of it, which is borrowed: lane after lane with
 * is_by_lane, else in order of start.  The caller frees *out with walk_free().
 * Return 0 or a negative status. */
int walk_new_part(const struct cst_trace *t, const struct walk_part *part,
		  int is_by_lane, struct walk **out, struct cst_error *err);
int walk_new(const struct cst_trace *t, int is_by_lane, struct walk **out,
	     struct cst_error *err);

/* Frees w, which may be NULL. */
void walk_free(struct walk *w);

/* Puts the next run into *out.  Returns 1, and the run is valid until the next
 * call; 0 at the end; or a negative status. */
int walk_next(struct walk *w, struct run *out, struct cst_error *err);

/* Exchanges memory: what the run points at becomes the caller's, in *other, and
 * w gets the memory that was in *other (zeroed: none). Only when walking lane
 * after lane, where a run is a complete block. */
void walk_swap(struct walk *w, const struct run *run, struct unpacked *other);

/* Returns whether the values of call i of the run, which is c, a call of f,
 * meet the condition. */
int run_meets(const struct run *run, uint32_t i, const struct packed_call *c,
	      const struct function *f, const struct where *w);

/* Takes the first value of call i of the run, which is c, into *out.  Returns
 * whether there is one. */
int run_first(const struct run *run, uint32_t i, const struct packed_call *c,
	      struct value *out);

#endif
