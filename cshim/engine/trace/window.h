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
		uint32_t n, cap;
		uint8_t is_begun; /* its callers were given */
	} * lanes;
	uint32_t n_lanes;
	uint8_t *walked; /* the part's lanes, or NULL */
};

/* Finds the part where the window lies; the calls are to come from
 * view_new_part() with it.  Returns 0 or a negative status; release w in any
 * case. */
int window_init(struct window *w, const struct cst_trace *t,
		const struct cst_choice *choice, struct cst_error *err);

/* Frees the memory of w. */
void window_release(struct window *w);

static inline int window_is_all(const struct window *w)
{
	return !w->lanes;
}

/* Returns whether all calls that are shown were passed to window_take(). */
static inline int window_is_over(const struct window *w)
{
	return w->lanes && w->at >= w->to;
}

/* Decides on the next visible call.  Returns 1 if it is shown; before it come
 * the n_callers calls at *callers, the lane's stack around it (only before a
 * lane's first). Returns 0 if it is not shown, or CST_MEMORY. */
int window_take(struct window *w, const struct shown *call,
		const struct shown **callers, uint32_t *n_callers);

#endif
