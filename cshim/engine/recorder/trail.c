/* SPDX-License-Identifier: MIT
 *
 * Keeps for each lane of a screen the rows around the latest one, as a stack by
 * depth.
 */
#include "recorder/trail.h"

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
	if (lane >= t->n) {
		uint64_t n = lane + 1ull + lane / 2;
		struct trail *all = realloc(t->all, n * sizeof(*all));

		if (!all)
			return NULL;
		memset(all + t->n, 0, (n - t->n) * sizeof(*all));
		t->all = all;
		t->n = (uint32_t)n;
	}
	return &t->all[lane];
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

static int trail_room(struct trail *t)
{
	uint32_t cap = t->cap ? 2 * t->cap : 16;
	struct screen_row *rows;

	if (t->n < t->cap)
		return 0;
	rows = realloc(t->rows, cap * sizeof(*rows));
	if (!rows)
		return -1;
	t->rows = rows;
	t->cap = cap;
	return 0;
}

void trails_follow(struct trails *trails, const struct screen_row *row)
{
	struct trail *t = trails_of(trails, row->lane);

	if (!t || row->kind == ROW_COUNT)
		return;
	t->n = trail_callers(t, row);
	if (row->kind != ROW_CLOSE && trail_room(t) == 0)
		t->rows[t->n++] = *row;
}
