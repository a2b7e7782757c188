/* SPDX-License-Identifier: MIT
 *
 * A tree of the calls that are held back, for each lane.  Without live a node
 * is final once its row was given, which is when too much is held, or at the
 * end.
 */
#include "rows/fold_parts.h"
#include "base/array.h"

#include <stdlib.h>

/* ---- a whole call and those before it ---------------------------------------
 */

/* Where the order makes no difference: join whichever it is alike to. */
static int join_any(struct fold *f, struct node *node)
{
	struct node *i = node->previous;

	for (int n = 0; i && n < MAX_KINDS; i = i->previous, n++) {
		if (!i->is_complete || !node_is_alike(f, i, node, 0) ||
		    node_speed(i, node) != AS_FAST)
			continue;
		/* Something new is to be seen. */
		if (i->is_given && !node_has_all(i, node))
			continue;
		node_join(f, i, node);
		/* A row's START is that of the call whose ID it has, its
		 * count's that of the last one. */
		if (i->is_given)
			i->call.start_ns = node->call.start_ns;
		node_drop(f, node);
		return 1;
	}
	return 0;
}

/* Returns the node before this one, passing over those that nothing is compared
 * with. */
static struct node *node_before(const struct node *node)
{
	struct node *i = node->previous;

	while (i && i->is_aside)
		i = i->previous;
	return i;
}

static struct node *node_behind(const struct node *node)
{
	struct node *i = node->next;

	while (i && i->is_aside)
		i = i->next;
	return i;
}

/* Are the `period` nodes from a on alike to those from b on?  None of those at
 * a is much slower: the slow ones stand behind what they are compared with. */
static int is_round(struct fold *f, struct node *a, struct node *b,
		    uint32_t period, int is_kin_enough)
{
	while (period--) {
		if (!a || !b || !node_is_alike(f, a, b, is_kin_enough) ||
		    node_speed(a, b) == MUCH_FASTER)
			return 0;
		a = node_behind(a);
		b = node_behind(b);
	}
	return 1;
}

/* b stays a row of its own, or is one more of those beside a that are slow. */
static void set_aside(struct fold *f, struct node *a, struct node *b)
{
	const struct node *end = a;

	while (end->above != b->above)
		end = end->above;
	for (struct node *i = b->previous; i && i != end; i = i->previous) {
		if (!i->is_aside || !node_is_alike(f, i, b, 0) ||
		    node_speed(i, b) != AS_FAST)
			continue;
		node_join(f, i, b);
		node_drop(f, b);
		return;
	}
	b->is_aside = 1;
}

/* b, behind a, is one more of a's calls. */
static void join_one(struct fold *f, struct node *a, struct node *b)
{
	if (node_speed(a, b) == MUCH_SLOWER) {
		set_aside(f, a, b);
		return;
	}
	node_join(f, a, b);
	node_drop(f, b);
}

/* The `period` nodes from b on join those from a on. */
static void join_round(struct fold *f, struct node *a, struct node *b,
		       uint32_t period)
{
	while (period--) {
		struct node *next = node_behind(b);

		join_one(f, a, b);
		a = node_behind(a);
		b = next;
	}
}

/* Slow ones, between the rounds, are no rows of the loop. */
static void loop_sweep(struct node *loop)
{
	struct node *i = loop->last, *previous;

	for (; i; i = previous) {
		previous = i->previous;
		if (i->is_aside)
			node_move(i, loop);
	}
}

/* Put a loop's node where the first of its rows is. */
static int loop_new(struct fold *f, struct node *first, uint32_t period,
		    uint64_t n)
{
	struct node *loop = node_new(f), *above = first->above;
	struct node *before = first->previous;

	if (!loop)
		return CST_MEMORY;
	loop->period = period;
	loop->is_complete = 1;
	loop->n = n;
	loop->order = first->order;
	loop->above = above;
	loop->previous = before;
	loop->first = first;
	loop->last = above->last;
	if (before)
		before->next = loop;
	else
		above->first = loop;
	above->last = loop;
	first->previous = NULL;
	for (struct node *i = first; i; i = i->next)
		i->above = loop;
	loop_sweep(loop);
	node_key(f, loop);
	return 1;
}

/* Is the round from b on one more of the loop's, or of one's that ends the
 * loop's rounds? */
static int join_old_loop(struct fold *f, struct node *loop, struct node *b,
			 uint32_t period)
{
	for (; loop && loop->period && !loop->is_given; loop = loop->last) {
		if (loop->period != period ||
		    !is_round(f, loop->first, b, period, 0))
			continue;
		join_round(f, loop->first, b, period);
		loop->n++;
		return 1;
	}
	return 0;
}

static struct node *nodes_before(struct node *node, uint32_t n)
{
	while (node && n--)
		node = node_before(node);
	return node;
}

/* Do the last nodes of the list repeat what comes before them?  b is the first
 * of them.  Calls from other lines do if it is for the third time.  1: they
 * have joined it. */
static int join_loop(struct fold *f, struct node *b, uint32_t period)
{
	struct node *a = nodes_before(b, period), *first;
	uint64_t n = 2;

	if (period > 1 && join_old_loop(f, node_before(b), b, period))
		return 1;
	if (!a || a->is_given)
		return 0;
	if (period > 1 && is_round(f, a, b, period, 0)) {
		join_round(f, a, b, period);
		first = a;
	} else {
		first = nodes_before(a, period);
		if (!first || first->is_given || !is_round(f, a, b, period, 1))
			return 0;
		if (!is_round(f, first, a, period, 1)) {
			/* If they are fold_only()'s now, so is b. */
			is_round(f, a, b, period, 1);
			return 0;
		}
		join_round(f, first, a, period);
		join_round(f, first, b, period);
		n = 3;
	}
	return period > 1 ? loop_new(f, first, period, n) : 1;
}

/* Does the list's last node repeat the one before it, or a loop's last row,
 * which may be one of a loop within it? */
static int join_neighbour(struct fold *f, struct node *node)
{
	struct node *before = node_before(node);

	while (!node_is_alike(f, before, node, 0)) {
		if (!before->period || before->is_given)
			return 0;
		before = before->last;
	}
	if (node_speed(before, node) != MUCH_FASTER)
		join_one(f, before, node);
	else if (before->above == node->above)
		before->is_aside = 1;
	else
		return 0;
	return 1;
}

/* The list's last node is whole. */
static int join_before(struct fold *f, struct node *above)
{
	struct node *b, *last;

again:
	last = b = above->last;
	if (!node_before(last) || !node_before(last)->is_complete ||
	    join_neighbour(f, last))
		return 0;
	for (uint32_t period = 1; period <= FOLD_PERIOD; period++) {
		const struct node *before = node_before(b);
		int status;

		if (!before || before->is_given)
			return 0;
		if (before->key == last->key || before->period) {
			status = join_loop(f, b, period);
			if (status < 0)
				return status;
			if (status)
				goto again; /* may be a row of another */
		}
		b = node_before(b);
	}
	return 0;
}

/* A loop often ends in the middle of a round, "while (take()) handle()": the
 * rows behind it that begin one more round belong to the loop. */
static void join_ends(struct fold *f, struct node *above)
{
	for (struct node *i = above->first; i; i = i->next) {
		struct node *b = node_behind(i);
		uint32_t n;

		if (!i->period || i->is_given)
			continue;
		for (n = i->period - 1; n && !is_round(f, i->first, b, n, 0);)
			n--;
		if (n)
			join_round(f, i->first, b, n);
	}
}

/* Live, below what is on the screen: rows come as they are seen first. */
static int is_on_screen(const struct fold *f, const struct node *above)
{
	return f->is_live && (!above->above || above->is_given);
}

static int node_end(struct fold *f, struct node *node)
{
	struct node *above = node->above;
	int status;

	node->is_complete = 1;
	if (node->n_levels == 1 && !is_on_screen(f, node))
		join_ends(f, node);
	node_key(f, node);
	if (node->is_own || node->is_given || node->is_only)
		return 0;
	if (above->n_levels > 1 || is_on_screen(f, above))
		status = join_any(f, node);
	else
		status = join_before(f, above);
	return status < 0 ? status : 0;
}

/* ---- rows -------------------------------------------------------------------
 */

int fold_give_row(struct fold *f, struct node *node)
{
	struct folded row = {.call = node->call,
			     .n_calls = node->n_calls,
			     .n_levels = node->n_levels,
			     .first_line = node->first_line,
			     .last_line = node->last_line,
			     .has_other_values = node->has_other_values,
			     .cookie = node->cookie};
	const struct node *above = node->above;

	node->is_given = 1;
	node->n_given = node->n_calls;
	node->given_ns = f->now_ns;
	if (node->period)
		return 0;
	if (above->period && above->first == node)
		row.n_loop = above->period;
	if (f->has_only) {
		const struct node *i = node;

		while (i && !node_is_only(f, i))
			i = i->above;
		if (!i)
			return 0;
	}
	return f->row(f->arg, &row);
}

int fold_give_all(struct fold *f, struct node *top)
{
	int status = 0;

	for (struct node *i = top; i && status >= 0; i = node_after(i, top))
		status = fold_give_row(f, i);
	return status;
}

/* ---- too much is held, or it is the end -------------------------------------
 */

/* The lane's first node that was not given; drops what is done with. */
static struct node *front_of(struct fold *f, struct lane_state *l)
{
	struct node *node = l->front ? l->front : &l->top;

	while (!node->first || node->first->is_given) {
		struct node *above = node->above;

		if (node->first) {
			node = node->first;
			continue;
		}
		if (node == &l->top || !node->is_complete)
			break;
		node_drop(f, node);
		node = above;
	}
	l->front = node;
	return node->first;
}

static uint64_t front_order(struct fold *f, uint32_t lane)
{
	struct node *front =
		f->lanes[lane] ? front_of(f, f->lanes[lane]) : NULL;

	return front ? front->order : UINT64_MAX;
}

static int give_front(struct fold *f, struct node *node)
{
	int status;

	if (!node->is_complete)
		return fold_give_row(f, node);
	status = fold_give_all(f, node);
	node_drop(f, node);
	return status;
}

/* The rows of the lane that is first, up to the next lane's first.  1: there
 * may be more. */
static int give_earliest(struct fold *f, uint64_t n_wanted)
{
	uint64_t first = UINT64_MAX, second = UINT64_MAX;
	struct node *front;
	uint32_t lane = 0;

	for (uint32_t i = 0; i < f->n_lanes; i++) {
		uint64_t order = front_order(f, i);

		if (order < first) {
			second = first;
			first = order;
			lane = i;
		} else if (order < second) {
			second = order;
		}
	}
	if (first == UINT64_MAX)
		return 0;
	while ((front = front_of(f, f->lanes[lane])) && front->order < second &&
	       f->n_held > n_wanted) {
		int status = give_front(f, front);

		if (status < 0)
			return status;
	}
	return 1;
}

static int give_until(struct fold *f, uint64_t n_wanted)
{
	int status = 1;

	while (status > 0 && f->n_held > n_wanted)
		status = give_earliest(f, n_wanted);
	return status < 0 ? status : 0;
}

/* ---- calls ------------------------------------------------------------------
 */

struct lane_state *fold_lane(struct fold *f, uint32_t lane)
{
	if (array_room(&f->lanes, &f->n_lanes, lane + 1ull) < 0)
		return NULL;
	if (!f->lanes[lane])
		f->lanes[lane] = calloc(1, sizeof(**f->lanes));
	return f->lanes[lane];
}

static int level_push(struct lane_state *l, struct node *node, uint32_t depth,
		      uint32_t n_inner)
{
	if (array_room(&l->levels, &l->cap, l->n + 1ull) < 0)
		return CST_MEMORY;
	l->levels[l->n++] = (struct level){node, depth, n_inner};
	return 0;
}

int fold_pop_level(struct fold *f, struct lane_state *l)
{
	const struct level *level = &l->levels[--l->n];

	if (level->n_inner)
		return 0;
	level->node->is_own |= level->node->call.end == CALL_OPEN;
	return node_end(f, level->node);
}

int fold_pop_lane(struct fold *f, struct lane_state *l, uint32_t depth)
{
	while (l->n && l->levels[l->n - 1].depth >= depth) {
		int status = fold_pop_level(f, l);

		if (status < 0)
			return status;
	}
	return 0;
}

int fold_is_foldable(const struct shown *call)
{
	return call_end_sort(call->end) == CALL_RETURN && !call->is_seed &&
	       !call->n_stops && !call->is_marked;
}

/* Does a call in `caller` lie below the open node, or beside it? */
static int is_near(const struct node *node, const struct node *caller)
{
	const struct node *i = caller;

	if (node->above == caller)
		return 1;
	for (int n = 0; i && i != node && n < FOLD_CYCLE; n++)
		i = i->above;
	return i == node;
}

/* The innermost open call that this is one more level of; NULL: there is none.
 * What lies between the two is of the recursion, too. */
static const struct level *recursion_of(const struct fold *f,
					const struct lane_state *l,
					const struct shown *call,
					uint32_t function)
{
	uint32_t depth = call->depth;

	if (!fold_is_foldable(call))
		return NULL;
	for (uint32_t i = 1; i <= FOLD_CYCLE && i <= l->n; i++) {
		const struct level *level = &l->levels[l->n - i];
		const struct node *node = level->node;

		if (level->depth != --depth || node->is_given ||
		    !fold_is_foldable(&node->call) ||
		    (f->has_only && node_is_only(f, node)))
			return NULL;
		if (node->function == function &&
		    is_near(node, l->levels[l->n - 1].node))
			return level;
	}
	return NULL;
}

/* Is it a level of the recursion that fold_only() asks for? */
static int is_only_level(const struct fold *f, const struct lane_state *l,
			 uint32_t function)
{
	for (uint32_t i = 1; i <= FOLD_CYCLE && i <= l->n; i++) {
		const struct node *node = l->levels[l->n - i].node;

		if (node->function == function && node_is_only(f, node))
			return 1;
	}
	return 0;
}

/* What the levels of a recursion call is one list, whatever the order. */
static void dissolve_below(struct fold *f, struct node *node)
{
	struct node *i = node->first;

	while (i) {
		struct node *next = i->period ? i->first : i->next;

		if (i->period)
			node_dissolve(f, i);
		i = next;
	}
}

static int add_inner(struct fold *f, struct lane_state *l,
		     const struct level *outer, const struct shown *call)
{
	struct node *node = outer->node;
	uint32_t n_inner = outer->n_inner + 1;

	if (node->n_levels == 1)
		dissolve_below(f, node);
	node->n_calls++;
	node->has_other_values |=
		!values_equal(node->call.values, call->values);
	if (node->n_levels < n_inner + 1)
		node->n_levels = n_inner + 1;
	return level_push(l, node, call->depth, n_inner);
}

/* A live call that is open may return yet; each exception is a row. */
static int joins(const struct fold *f, const struct shown *call,
		 uint32_t function)
{
	int is_running = f->is_live && call->end == CALL_OPEN && !call->is_seed;

	return (fold_is_foldable(call) || is_running) &&
	       !function_is_exception(&f->names->functions[function]);
}

int fold_add(struct fold *f, const struct shown *call, uint64_t cookie)
{
	uint32_t function = f->names->sites[call->site].function;
	struct lane_state *l = fold_lane(f, call->lane);
	const struct level *caller, *outer;
	struct node *node;
	int status;

	if (!l)
		return CST_MEMORY;
	status = fold_pop_lane(f, l, call->depth);
	if (status < 0)
		return status;
	caller = l->n ? &l->levels[l->n - 1] : NULL;
	outer = recursion_of(f, l, call, function);
	if (outer)
		return add_inner(f, l, outer, call);
	node = node_new(f);
	if (!node)
		return CST_MEMORY;
	node->call = *call;
	node->call.values = values_keep(call->values);
	node->cookie = cookie;
	node->function = function;
	node->order = f->n_added++;
	node->is_own = !joins(f, call, function);
	if (caller)
		node->call.depth -= caller->depth - caller->node->call.depth;
	node->is_only = f->has_only && is_only_level(f, l, function);
	node_append(caller ? caller->node : &l->top, node);
	status = level_push(l, node, call->depth, 0);
	if (status == 0 && f->n_held > MAX_HELD && !f->is_live)
		status = give_until(f, MAX_HELD / 4 * 3);
	return status;
}

int fold_end(struct fold *f)
{
	for (uint32_t i = 0; i < f->n_lanes; i++) {
		int status = f->lanes[i] ? fold_pop_lane(f, f->lanes[i], 0) : 0;

		if (status < 0)
			return status;
	}
	return give_until(f, 0);
}

/* ---- life -------------------------------------------------------------------
 */

struct fold *fold_new(const struct names *names, fold_row_fn row, void *arg)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->names = names;
	f->row = row;
	f->arg = arg;
	return f;
}

void fold_only(struct fold *f, uint32_t thread, const struct callid *id)
{
	f->has_only = 1;
	f->only_thread = thread;
	f->only_number = id->number;
	f->only_is_seed = (uint8_t)id->is_seed;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n_lanes; i++) {
		if (f->lanes[i])
			free(f->lanes[i]->levels);
		free(f->lanes[i]);
	}
	free(f->lanes);
	node_free_all(f);
	free(f);
}
