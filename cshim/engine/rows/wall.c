/* SPDX-License-Identifier: MIT
 *
 * Adds up the pauses of a trace, and finds those before a time.
 */
#include "rows/wall.h"
#include "base/search.h"

#include <stdlib.h>

int wall_init(struct wall *w, const struct cst_trace *t)
{
	uint64_t paused = 0;

	w->t = t;
	w->paused_ns = calloc(t->n_pauses + (size_t)1, sizeof(*w->paused_ns));
	if (!w->paused_ns)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->n_pauses; i++)
		w->paused_ns[i] = paused += trace_ns(t, t->pauses[i].ticks);
	return 0;
}

void wall_release(struct wall *w)
{
	free(w->paused_ns);
	w->paused_ns = NULL;
}

uint64_t wall_ns(const struct wall *w, uint64_t start_ns)
{
	const struct cst_trace *t = w->t;
	/* Pauses are in order of time; those before the call count. */
	uint32_t n = search_while(
		i, t->n_pauses,
		trace_ns(t, t->pauses[i].at - t->start_ticks) <= start_ns);

	return t->start_wall_ns + start_ns + (n ? w->paused_ns[n - 1] : 0);
}
