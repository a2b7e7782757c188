/* SPDX-License-Identifier: MIT
 *
 * Finds the items of a golden tree that may follow a position among one line's
 * children, and whether they may end there.
 */
#include "golden/position.h"

#include <stddef.h>

static const struct golden_item *item_of(const struct golden *g, uint32_t id)
{
	return &g->items[id];
}

static uint32_t counted(const struct golden_item *item, uint32_t n)
{
	/* Without an upper bound all beyond the lower one are alike. */
	return item->max == GOLDEN_MANY && n >= item->min ? item->min : n + 1;
}

static int reach_group(const struct golden *g, const struct position *from,
		       reach_fn found, void *arg, int *is_full)
{
	uint32_t member = item_of(g, from->item)->first;

	*is_full = 1;
	for (int i = 0; member != GOLDEN_NONE; i++) {
		const struct golden_item *item = item_of(g, member);
		struct position after = *from;

		if (from->group[i] < item->min)
			*is_full = 0;
		after.group[i] = counted(item, from->group[i]);
		if (from->group[i] < item->max && !found(arg, member, &after))
			return 0;
		member = item->next;
	}
	return 1;
}

int position_reach(const struct golden *g, const struct position *from,
		   reach_fn found, void *arg)
{
	struct position at = *from;

	while (at.item != GOLDEN_NONE) {
		const struct golden_item *item = item_of(g, at.item);
		int is_full = at.n >= item->min;
		struct position after = at;

		if (item->kind == ITEM_GROUP) {
			if (!reach_group(g, &at, found, arg, &is_full))
				return 0;
		} else if (at.n < item->max) {
			after.n = counted(item, at.n);
			if (!found(arg, at.item, &after))
				return 0;
		}
		if (!is_full)
			return 0;
		at = (struct position){.item = item->next};
	}
	return 1;
}

static int find_none(void *arg, uint32_t item, const struct position *after)
{
	(void)arg;
	(void)item;
	(void)after;
	return 1;
}

int position_may_end(const struct golden *g, const struct position *at)
{
	return position_reach(g, at, find_none, NULL);
}
