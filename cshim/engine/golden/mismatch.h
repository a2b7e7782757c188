/* SPDX-License-Identifier: MIT
 *
 * Which call did not fit a golden tree, and what would have.
 */
#ifndef ENGINE_MISMATCH_H
#define ENGINE_MISMATCH_H

#include "golden/position.h"
#include "trace/view.h"

enum mismatch_kind {
	MISMATCH_NONE,
	MISMATCH_CALL,	/* another call was expected */
	MISMATCH_END,	/* the innermost open call should make more calls */
	MISMATCH_NEVER, /* this one must not be made */
};

enum { MISMATCH_ITEMS = 4 };

struct mismatch {
	enum mismatch_kind kind;
	struct shown call;		   /* not of MISMATCH_END */
	uint32_t never;			   /* of MISMATCH_NEVER */
	uint32_t expected[MISMATCH_ITEMS]; /* items */
	uint32_t n_expected;		   /* may be more than MISMATCH_ITEMS */
	uint32_t below;			   /* an item that it should be below */
};

/* The first call that began like an item and went on differently. */
struct near_miss {
	struct shown call;
	struct mismatch why;
	uint32_t item;
	int is_set;
};

/* Adds to why that the item at these n positions could not go on.  call is what
 * came, or NULL when no further call came. */
void mismatch_explain(struct mismatch *why, const struct golden *golden,
		      uint32_t item, const struct position *positions,
		      uint32_t n, const struct shown *call);

#endif
