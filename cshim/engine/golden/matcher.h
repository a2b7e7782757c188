/* SPDX-License-Identifier: MIT
 *
 * Matches a thread's calls, one by one, with a golden tree.  All ways to read
 * the tree are followed at once, so no call is looked at twice, and memory
 * grows with the open calls only.
 */
#ifndef ENGINE_MATCHER_H
#define ENGINE_MATCHER_H

#include "golden/mismatch.h"

/* An item that an open call may be; item MATCHER_ANY: any call at all. */
struct candidate {
	uint32_t item;
	uint32_t first, n; /* positions */
	int is_out;	   /* it cannot be this one any more */
};

enum { MATCHER_ANY = UINT32_MAX - 1 };

/* An open call. */
struct open_frame {
	struct shown call;
	uint32_t first, n;  /* candidates */
	uint32_t positions; /* the first one of its candidates */
	uint32_t nevers;    /* the nearest frame with "!name"s, this one or one
			     * around it, + 1; or 0 */
};

struct matcher {
	const struct cst_trace *t;
	const struct golden *golden;
	struct open_frame *frames; /* frames[0]: the thread */
	struct candidate *candidates;
	struct position *positions;
	/* Scratch memory while a call ends: its caller's positions before it,
	 * and the items that the call may have been. */
	struct position *before;
	uint32_t *accepted;
	uint8_t *verdicts; /* by pattern and function */
	uint32_t n_frames, n_candidates, n_positions;
	uint32_t cap_frames, cap_candidates, cap_positions;
	uint32_t n_before, n_accepted, cap_before, cap_accepted;
	int is_ambiguous; /* too many ways to read it */
	struct mismatch mismatch;
	struct near_miss near;
};

/* Prepares m; t and golden are borrowed until matcher_release().  Returns 0 or
 * CST_MEMORY; release m in any case. */
int matcher_init(struct matcher *m, const struct cst_trace *t,
		 const struct golden *golden, struct cst_error *err);

/* Frees the memory of m. */
void matcher_release(struct matcher *m);

/* Match a thread's calls with the section whose root is the item `root`: call
 * matcher_begin(), matcher_take() for each call in order of entry, then
 * matcher_end().  They return 1 if the calls fit so far; 0 if they do not, with
 * the reason in m->mismatch and the calls around it in m->frames; or a negative
 * status, CST_BAD_INPUT if the tree can be read in too many ways.  After 0 or a
 * negative status only matcher_begin() and matcher_release() may follow. */
int matcher_begin(struct matcher *m, uint32_t root, struct cst_error *err);
int matcher_take(struct matcher *m, const struct shown *call,
		 struct cst_error *err);
int matcher_end(struct matcher *m, struct cst_error *err);

#endif
