/* SPDX-License-Identifier: MIT
 *
 * Which of a choice's visible calls are shown: all, the last ones, or those
 * around one ID.
 */
#ifndef ENGINE_WINDOW_H
#define ENGINE_WINDOW_H

#include "trace/view.h"

struct window {
	struct walk_part part; /* where it is looked for */
	uint64_t from, to;     /* positions among the part's visible calls */
	uint32_t only;	       /* index of the only thread, or UINT32_MAX */
	uint64_t at;	       /* position of the next call */
	struct window_lane {
		struct shown *calls; /* the last one at each depth */
		uint32_t cap;
		uint8_t is_begun; /* its callers were given */
	} * lanes;
	uint32_t n_lanes;
	uint8_t *walked; /* the part's lanes, or NULL */
};

/* Finds the part; the calls are to come from view_new_part() with it. */
int window_init(struct window *w, const struct cst_trace *t,
		const struct cst_choice *choice, struct cst_error *err);
void window_release(struct window *w);

static inline int window_is_all(const struct window *w)
{
	return !w->lanes;
}

/* All that is shown was taken. */
static inline int window_is_over(const struct window *w)
{
	return w->lanes && w->at >= w->to;
}

/* Take the next visible call. 1: it is shown, and before it the n_callers
 * calls at *callers, which are the lane's stack around it (only before a
 * lane's first). 0: it is not; CST_MEMORY. */
int window_take(struct window *w, const struct shown *call,
		const struct shown **callers, uint32_t *n_callers);

#endif
