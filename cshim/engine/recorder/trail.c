/* SPDX-License-Identifier: MIT
 *
 * Keeps for each lane of a screen the rows around the latest one, as a stack by
 * depth.
 */
#include "recorder/trail.h"

#include "base/array.h"
#include "recorder/screen.h"

#include <stdlib.h>
#include <string.h>

void trails_release(struct trails *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->all[i].rows);
	free(t->all);
	*t = (struct trails){0};
}

struct trail *trails_of(struct trails *t, uint32_t lane)
{
	return array_room(&t->all, &t->n, lane + 1ull) < 0 ? NULL
							   : &t->all[lane];
}

/* Did the call end before the row's, so that it cannot be its caller? */
static int is_over(const struct screen_row *call, const struct screen_row *row)
{
	return call->kind == ROW_CALL && call->n_calls == 1 &&
	       call->at + call->duration_ns < row->at;
}

uint32_t trail_callers(const struct trail *t, const struct screen_row *row)
{
	uint32_t n = t->n;

	while (n && (t->rows[n - 1].depth >= row->depth ||
		     is_over(&t->rows[n - 1], row)))
		n--;
	return n;
}

void trails_follow(struct trails *trails, const struct screen_row *row)
{
	struct trail *t = trails_of(trails, row->lane);

	if (!t || row->kind == ROW_COUNT)
		return;
	t->n = trail_callers(t, row);
	if (row->kind != ROW_CLOSE &&
	    array_room(&t->rows, &t->cap, t->n + 1ull) == 0) {
		t->rows[t->n] = *row;
		t->rows[t->n++].values = NULL; /* it may be gone by then */
	}
}
