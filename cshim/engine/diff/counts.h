/* SPDX-License-Identifier: MIT
 *
 * Sums of two traces' visible calls: how often each is made by which caller,
 * how long each function took, and a hash of each lane's flow.
 */
#ifndef ENGINE_COUNTS_H
#define ENGINE_COUNTS_H

#include "base/pairs.h"
#include "diff/match_functions.h"
#include "trace/total.h"

enum { COUNTS_NO_CALLER = UINT32_MAX };

/* The calls of one joint site that one joint function makes. */
struct counts_edge {
	uint32_t caller; /* joint function, or COUNTS_NO_CALLER */
	uint32_t site;	 /* joint */
	uint64_t n[2];	 /* in each trace */
	/* The first of them: its trace, its site there, and the site whose
	 * place is that of the call in its visible caller. */
	uint32_t trace, first_site, first_from;
};

struct counts_lane {
	uint32_t lane;		  /* index in the trace */
	uint32_t process, thread; /* ordinals, as in IDs */
	uint32_t first;		  /* joint function of its first call */
	uint64_t n_calls;
	uint64_t flow;	  /* hash of depths and sites */
	uint64_t ends;	  /* hash of how the calls ended */
	uint32_t partner; /* in the other trace's list, or NO_PARTNER */
};

enum { NO_PARTNER = UINT32_MAX };

struct counts {
	const struct matched_functions *functions;
	struct pairs pairs;	   /* of caller and site */
	struct counts_edge *edges; /* by the pair's number */
	uint32_t cap_edges;
	struct counts_lane *lanes[2];
	uint32_t n_lanes[2], cap_lanes[2];
	struct total *times[2]; /* by joint function */
	uint64_t n_calls[2];
	uint64_t root_ns[2]; /* of the calls without a visible caller */
};

/* Counts the calls of the choice in both traces of j, which is borrowed until
 * counts_release().  Returns 0 or a negative status, CST_BAD_INPUT for a bad
 * choice; release y in any case. */
int counts_init(struct counts *y, const struct matched_functions *j,
		const struct cst_choice *choice, struct cst_error *err);

/* Frees the memory of y. */
void counts_release(struct counts *y);

/* Sets the partner of each lane: a lane of the same process, if possible with
 * the same flow, else with the same first function, else the next one; lanes
 * that find none keep NO_PARTNER.  Returns 0 or CST_MEMORY. */
int counts_pair(struct counts *y, struct cst_error *err);

/* Returns the hash of a sequence, of hash 0 or what this function returned,
 * with one more value. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

#endif
