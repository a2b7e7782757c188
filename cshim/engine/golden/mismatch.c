/* SPDX-License-Identifier: MIT
 *
 * Collects which items of a golden tree were expected where a call did not fit.
 */
#include "golden/mismatch.h"

struct explaining {
	const struct golden *golden;
	struct mismatch *why;
};

static int expect_item(void *arg, uint32_t id, const struct position *after)
{
	struct explaining *e = arg;
	struct mismatch *why = e->why;
	uint32_t room = why->n_expected < MISMATCH_ITEMS ? why->n_expected
							 : MISMATCH_ITEMS;

	(void)after;
	if (e->golden->items[id].kind == ITEM_ANY)
		return 1;
	for (uint32_t i = 0; i < room; i++)
		if (why->expected[i] == id)
			return 1;
	if (room < MISMATCH_ITEMS)
		why->expected[room] = id;
	why->n_expected++;
	return 1;
}

void mismatch_explain(struct mismatch *why, const struct golden *golden,
		      uint32_t item, const struct position *positions,
		      uint32_t n, const struct shown *call)
{
	struct explaining e = {golden, why};

	why->kind = call ? MISMATCH_CALL : MISMATCH_END;
	if (call)
		why->call = *call;
	why->below = item;
	for (uint32_t i = 0; i < n; i++)
		position_reach(golden, &positions[i], expect_item, &e);
}
