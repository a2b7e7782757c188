/* SPDX-License-Identifier: MIT
 *
 * The tree's top is what is on the screen: nodes that were given stay there as
 * long as they are open, and enough of those that are whole to know them again.
 */
#include "rows/fold_live.h"

#include "rows/fold_parts.h"

enum {
	COUNT_NS = 1000000000, /* a count that has grown is due then */
	OPEN_NS = 20000000,    /* no open call is slow before that */
};

void fold_live(struct fold *f)
{
	f->is_live = 1;
}

/* Calls of the open one have ended before, and in no shorter time. */
static int is_expected(const struct fold *f, const struct node *node)
{
	uint64_t age = f->now_ns > node->call.start_ns
			       ? f->now_ns - node->call.start_ns
			       : 0;

	if (node->is_own)
		return 0;
	for (const struct node *i = node->previous; i; i = i->previous)
		if (i->is_complete && !i->is_own &&
		    i->call.site == node->call.site &&
		    (age < OPEN_NS || age / FOLD_SLOW <= node_mean_ns(i)))
			return 1;
	return 0;
}

static int is_counted_with(const struct node *node, const struct node *i)
{
	return i->is_complete && !i->is_own && !i->period &&
	       i->key == node->key && node_has_lines(node, i);
}

/* Tell the counts of the nodes in a list that are of one site, in one row. */
static int give_count(struct fold *f, const struct node *node, int is_due)
{
	struct folded row = {.call = node->call,
			     .n_levels = node->n_levels,
			     .first_line = node->first_line,
			     .last_line = node->last_line,
			     .has_other_values = node->has_other_values,
			     .is_count = 1,
			     .is_early = !is_due,
			     .cookie = node->cookie};
	int status;

	row.call.duration_ns = 0;
	for (struct node *i = node->above->first; i; i = i->next) {
		if (!is_counted_with(node, i))
			continue;
		row.n_calls += i->n_calls;
		row.has_other_values |=
			i->has_other_values ||
			!values_equal(i->call.values, node->call.values);
		row.call.duration_ns += i->call.duration_ns;
		if (row.call.start_ns < i->call.start_ns)
			row.call.start_ns = i->call.start_ns;
	}
	status = f->row(f->arg, &row);
	if (status != 0)
		return status == FOLD_LATER ? 0 : status;
	for (struct node *i = node->above->first; i; i = i->next) {
		if (!is_counted_with(node, i))
			continue;
		i->n_given = i->n_calls;
		i->given_ns = f->now_ns;
	}
	return 0;
}

/* One node of the screen's.  1: what is below it is of the screen's, too. */
static int show_node(struct fold *f, struct node *node, int is_stop)
{
	if (node->is_given && node->is_complete) {
		int is_due = is_stop || f->now_ns - node->given_ns >= COUNT_NS;

		return node->n_calls > node->n_given
			       ? give_count(f, node, is_due)
			       : 0;
	}
	if (node->is_complete)
		return fold_give_all(f, node);
	if (node->is_given)
		return 1;
	if (!is_stop && is_expected(f, node))
		return 0;
	return fold_give_row(f, node) < 0 ? CST_MEMORY : 1;
}

/* Keeps enough of what is on the screen to know it again. */
static void node_trim(struct fold *f, struct node *above)
{
	struct node *i = above->last, *previous;

	for (int n = 0; i; i = previous) {
		struct node *other;

		previous = other = i->previous;
		if (!i->is_given || !i->is_complete)
			continue;
		/* The order makes no difference any more: a loop's rows count
		 * up each for itself. */
		if (i->period) {
			previous = i->last;
			node_dissolve(f, i);
			continue;
		}
		while (other && (!other->is_given || !other->is_complete ||
				 other->is_own || other->key != i->key ||
				 !node_has_lines(other, i)))
			other = other->previous;
		if (other && !i->is_own) {
			other->n_given += i->n_given;
			node_join(f, other, i);
		}
		if (other || i->is_own || ++n > MAX_KINDS)
			node_drop(f, i);
	}
}

static int show_below(struct fold *f, struct node *top, int is_stop)
{
	struct node *node = top->first;

	while (node) {
		int status = show_node(f, node, is_stop);

		if (status < 0)
			return status;
		if (status && node->first) {
			node = node->first;
			continue;
		}
		while (!node->next) {
			node = node->above;
			node_trim(f, node);
			if (node == top)
				return 0;
		}
		node = node->next;
	}
	return 0;
}

int fold_show(struct fold *f, uint64_t now_ns, int is_stop)
{
	f->now_ns = now_ns;
	for (uint32_t i = 0; i < f->n_lanes; i++) {
		struct lane_state *l = f->lanes[i];
		int status = 0;

		/* All that they called was added with them. */
		while (l && l->n && status == 0 &&
		       l->levels[l->n - 1].node->call.end != CALL_OPEN)
			status = fold_pop_level(f, l);
		if (l && status == 0)
			status = show_below(f, &l->top, is_stop);
		if (status < 0)
			return status;
	}
	return f->n_held > MAX_HELD ? fold_forget(f) : 0;
}

/* Its row is on the screen, and the node stays: those that are alike are
 * counted with it. */
static int close_given(struct fold *f, struct lane_state *l, struct node *node)
{
	struct folded row = {.n_calls = 1,
			     .n_levels = 1,
			     .is_close = 1,
			     .cookie = node->cookie};
	int status = show_below(f, node, 1);

	row.call = node->call;
	if (status == 0)
		status = f->row(f->arg, &row);
	return status < 0 ? status : fold_pop_level(f, l);
}

/* What it called, and was added since, is at the lane's top. */
static int close_unknown(struct fold *f, struct lane_state *l,
			 const struct shown *call, uint64_t cookie)
{
	const struct folded row = {.call = *call,
				   .n_calls = 1,
				   .n_levels = 1,
				   .is_close = 1,
				   .cookie = cookie};
	int status = show_below(f, &l->top, 1);

	return status < 0 ? status : f->row(f->arg, &row);
}

int fold_close(struct fold *f, const struct shown *call, uint64_t cookie)
{
	struct lane_state *l = fold_lane(f, call->lane);
	struct node *node;
	int status;

	if (!l)
		return CST_MEMORY;
	status = fold_pop_lane(f, l, call->depth + 1);
	if (status < 0)
		return status;
	if (!l->n)
		return close_unknown(f, l, call, cookie);
	node = l->levels[l->n - 1].node;
	if (node->call.number != call->number ||
	    node->call.thread != call->thread ||
	    node->call.is_seed != call->is_seed)
		return close_unknown(f, l, call, cookie);
	node->call.duration_ns = call->duration_ns;
	node->call.end = call->end;
	node->call.n_stops = call->n_stops;
	values_drop(node->call.values);
	node->call.values = values_keep(call->values);
	node->is_own |= !fold_is_foldable(call);
	if (node->is_given)
		return close_given(f, l, node);
	return fold_pop_level(f, l);
}

static void forget_below(struct fold *f, struct node *top)
{
	struct node *node = top->first;

	while (node) {
		struct node *next = node->is_complete ? NULL : node->first;
		struct node *above = node->above;

		node->is_own = 1;
		if (!next)
			next = node->next;
		while (!next && above != top) {
			next = above->next;
			above = above->above;
		}
		if (node->is_complete)
			node_drop(f, node);
		node = next;
	}
}

int fold_forget(struct fold *f)
{
	int status = 0;

	for (uint32_t i = 0; i < f->n_lanes && status == 0; i++) {
		struct lane_state *l = f->lanes[i];

		if (!l)
			continue;
		status = show_below(f, &l->top, 1);
		forget_below(f, &l->top);
	}
	return status;
}
