/* SPDX-License-Identifier: MIT
 *
 * The code of a plan's area: what reports an event, runs the instructions that
 * a patch displaced, and goes back.
 */
#ifndef ENGINE_PLAN_TRAMPOLINE_H
#define ENGINE_PLAN_TRAMPOLINE_H

#include "base/bytes.h"
#include "plan/frame_writer.h"
#include "plan/placement.h"
#include "plan/plan.h"

struct trampolines {
	const struct placements *p;
	struct bytes code; /* which lies at CODE_AT of the area */
	struct frame_writer frames;
	/* These are parts of a plan, by offsets in the area; the 32 bits of
	 * moves and patches suit an area that lies at address 0. */
	uint32_t *moves;
	uint32_t n_moves, cap_moves;
	struct cst_patch *patches;
	uint32_t n_patches, cap_patches;
	struct cst_plan_copy *copies;
	uint32_t n_copies, cap_copies;
	int failed; /* out of memory */
};

enum { TRAMPOLINES_AT = CST_PLAN_AREA_PAGE };

/* Makes the trampolines and patches of all placements.  Returns 0 or
 * CST_MEMORY; trampolines_release() in any case. */
int trampolines_init(struct trampolines *t, const struct placements *p);
void trampolines_release(struct trampolines *t);

#endif
