/* SPDX-License-Identifier: MIT
 *
 * A tree of the calls that are held back, for each lane.  When a call is
 * whole, its shape is a hash over its site and the shapes of what it called;
 * equal shapes make one node.  Without live a node is final once its row was
 * given, which is when too much is held, or at the end.
 */
#include "fold.h"

#include <stdlib.h>

enum {
	MAX_HELD = 32768,
	SLAB_NODES = 256,
	MAX_HEIGHT = 200, /* higher trees are not compared */
	MAX_KINDS = 64,	  /* so many shapes are looked through, where the order
			   * makes no difference */
	COUNT_NS = 1000000000,
	OPEN_NS = 20000000, /* live: no open call is slow before that */
};

struct node {
	struct shown call;
	uint64_t cookie;
	uint64_t order; /* of entry */
	uint64_t key;
	uint64_t n; /* calls side by side, or rounds of a loop */
	uint64_t n_calls;
	uint64_t n_told, told_ns; /* live: the count in its last row */
	/* Of slow ones that are nodes of their own, for the mean. */
	uint64_t n_slow, slow_ns;
	struct node *above, *first, *last, *next, *previous;
	uint32_t function;
	uint32_t n_levels;
	uint32_t period; /* not 0: a loop, its rows are below it */
	uint32_t height;
	uint8_t is_own;	  /* it joins no other */
	uint8_t is_whole; /* it has ended, or is taken to have */
	uint8_t is_given;
	uint8_t is_only; /* fold_only()'s, with all below */
};

/* An open call; those of a recursion are on one node. */
struct level {
	struct node *node;
	uint32_t depth;
	uint32_t n_inner; /* calls of the function that it lies in */
};

struct lane_state {
	struct node top; /* its first calls are below it */
	/* All that comes before it was given; NULL: it is top. */
	struct node *front;
	struct level *levels;
	uint32_t n, cap;
};

struct slab {
	struct slab *next;
	struct node nodes[SLAB_NODES];
};

struct fold {
	const struct names *names;
	fold_row_fn row;
	void *arg;
	struct lane_state **lanes;
	uint32_t n_lanes;
	struct slab *slabs;
	struct node *free;
	uint64_t n_held, n_added;
	uint64_t now_ns;
	uint64_t only_number;
	uint32_t only_thread;
	uint8_t only_is_seed;
	uint8_t has_only, is_live;
};

/* ---- nodes ----------------------------------------------------------------
 */

static struct node *node_new(struct fold *f)
{
	struct node *node = f->free;

	if (!node) {
		struct slab *s = malloc(sizeof(*s));

		if (!s)
			return NULL;
		s->next = f->slabs;
		f->slabs = s;
		for (uint32_t i = 0; i < SLAB_NODES; i++) {
			s->nodes[i].next = f->free;
			f->free = &s->nodes[i];
		}
		node = f->free;
	}
	f->free = node->next;
	f->n_held++;
	*node = (struct node){.n = 1, .n_calls = 1, .n_levels = 1};
	return node;
}

static void node_append(struct node *above, struct node *node)
{
	node->above = above;
	node->next = NULL;
	node->previous = above->last;
	if (above->last)
		above->last->next = node;
	else
		above->first = node;
	above->last = node;
}

static void node_unlink(struct node *node)
{
	struct node *above = node->above;

	if (node->previous)
		node->previous->next = node->next;
	else
		above->first = node->next;
	if (node->next)
		node->next->previous = node->previous;
	else
		above->last = node->previous;
}

/* Free the linked node and all below it, without recursion: the tree may be
 * as high as the calls were deep. */
static void node_drop(struct fold *f, struct node *node)
{
	struct node *end = node->above, *above;

	node_unlink(node);
	while (node != end) {
		if (node->first) {
			node = node->first;
			continue;
		}
		above = node->above;
		if (above != end)
			node_unlink(node);
		node->next = f->free;
		f->free = node;
		f->n_held--;
		node = above;
	}
}

/* The next in order of entry; NULL: the last below `top`. */
static struct node *node_after(const struct node *node, const struct node *top)
{
	if (node->first)
		return node->first;
	while (node != top && !node->next)
		node = node->above;
	return node == top ? NULL : node->next;
}

/* ---- are two alike? ---------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/* What its row is to be, for the sake of comparing: a call's site, or the
 * sites of a loop's rows. */
static void node_key(struct fold *f, struct node *node)
{
	node->key =
		node->period
			? node->period
			: ~((uint64_t)node->call.from << 32 | node->call.site);
	node->height = 1;
	for (const struct node *i = node->first; i; i = i->next) {
		if (i->height >= node->height)
			node->height = i->height + 1;
		node->is_own |= i->is_own;
		if (node->period)
			node->key = mix(node->key, i->key);
	}
	node->is_own |= node->height > MAX_HEIGHT;
	if (node->is_own)
		node->key = mix(node->key, ++f->n_added);
}

static int is_only(const struct fold *f, const struct node *node)
{
	return node->is_only || (node->call.number == f->only_number &&
				 node->call.thread == f->only_thread &&
				 node->call.is_seed == f->only_is_seed);
}

/* Of a's calls, with the slow ones that are rows of their own. */
static uint64_t mean_ns(const struct node *a)
{
	return (a->call.duration_ns + a->slow_ns) / (a->n + a->n_slow);
}

static int is_slow(uint64_t ns, uint64_t mean)
{
	return ns > FOLD_SLOW_NS && ns / FOLD_SLOW > mean;
}

/* Does b take much longer than a's calls do, or the other way round? */
static int is_as_fast(struct node *a, const struct node *b)
{
	uint64_t mean_of_b = b->call.duration_ns / b->n;

	if (a->period || (!is_slow(mean_of_b, mean_ns(a)) &&
			  !is_slow(a->call.duration_ns / a->n, mean_of_b)))
		return 1;
	a->n_slow += b->n;
	a->slow_ns += b->call.duration_ns;
	return 0;
}

/* May b join a? */
static int is_alike(struct fold *f, struct node *a, struct node *b)
{
	if (a->key != b->key || a->is_own || (a->is_given && !f->is_live))
		return 0;
	if (f->has_only && !a->period && is_only(f, a)) {
		b->is_only = 1;
		return 0;
	}
	return is_as_fast(a, b);
}

/* The next row below `top`, which may be in one of its loops. */
static struct node *row_after(struct node *row, const struct node *top)
{
	struct node *next = row ? row->next : top->first;

	while (!next && row && row->above != top) {
		row = row->above;
		next = row->next;
	}
	while (next && next->period)
		next = next->first;
	return next;
}

static int is_row_for(const struct node *a, const struct node *b)
{
	return a->call.site == b->call.site && a->call.from == b->call.from &&
	       !a->is_own;
}

/* The row below a that b's call is one more of; looked for from `from` on,
 * where it mostly is. */
static struct node *row_for(struct node *a, struct node *from,
			    const struct node *b)
{
	struct node *i = row_after(from, a);

	for (; i; i = row_after(i, a))
		if (is_row_for(i, b))
			return i;
	for (i = from ? row_after(NULL, a) : NULL; i; i = row_after(i, a)) {
		if (is_row_for(i, b))
			return i;
		if (i == from)
			break;
	}
	return NULL;
}

/* Take a row out, and the loops that are empty without it. */
static void row_unlink(struct fold *f, struct node *row, struct node *top)
{
	struct node *above = row->above;

	node_unlink(row);
	while (above != top && !above->first) {
		struct node *empty = above;

		above = above->above;
		node_drop(f, empty);
	}
}

/* b is one more of what a is: what it calls joins what a calls, or comes
 * behind that, as slow ones do.  b is empty then. */
static void join(struct fold *f, struct node *a, struct node *b)
{
	struct node *from = NULL, *row;

	a->n += b->n;
	a->n_calls += b->n_calls;
	a->call.duration_ns += b->call.duration_ns;
	if (a->n_levels < b->n_levels)
		a->n_levels = b->n_levels;
	while ((row = row_after(NULL, b))) {
		struct node *to = row_for(a, from, row);
		int is_unfolded = to && f->has_only && is_only(f, to);

		row_unlink(f, row, b);
		if (to && !is_unfolded && is_as_fast(to, row)) {
			join(f, to, row);
			node_append(a, row);
			node_drop(f, row);
			from = to;
			continue;
		}
		row->is_only |= is_unfolded;
		row->is_own |= to && !is_unfolded;
		node_append(a, row);
	}
}

/* Does a call all that b does? */
static int has_all(struct node *a, const struct node *b)
{
	struct node *from = NULL;

	for (struct node *i = row_after(NULL, b); i; i = row_after(i, b)) {
		from = row_for(a, from, i);
		if (!from || !has_all(from, i))
			return 0;
	}
	return 1;
}

/* ---- a whole call and those before it ---------------------------------------
 */

/* Where the order makes no difference: join whichever it is alike to. */
static int join_any(struct fold *f, struct node *node)
{
	struct node *i = node->previous;

	for (int n = 0; i && n < MAX_KINDS; i = i->previous, n++) {
		if (!i->is_whole || !is_alike(f, i, node))
			continue;
		/* Something new is to be seen. */
		if (i->is_given && !has_all(i, node))
			continue;
		join(f, i, node);
		if (f->is_live)
			i->call.start_ns = node->call.start_ns;
		node_drop(f, node);
		return 1;
	}
	return 0;
}

/* Are the `period` nodes from a on alike to those from b on? */
static int is_round(struct fold *f, struct node *a, struct node *b,
		    uint32_t period)
{
	for (; period; period--, a = a->next, b = b->next)
		if (!a || !b || !is_alike(f, a, b))
			return 0;
	return 1;
}

/* The nodes from b on, which end the list, join those from a on. */
static void join_round(struct fold *f, struct node *a, struct node *b)
{
	while (b) {
		struct node *next = b->next;

		join(f, a, b);
		node_drop(f, b);
		a = a->next;
		b = next;
	}
}

/* Put a loop's node where the first of its rows is. */
static int loop_new(struct fold *f, struct node *first, uint32_t period)
{
	struct node *loop = node_new(f), *above = first->above;
	struct node *before = first->previous;

	if (!loop)
		return CST_MEMORY;
	loop->period = period;
	loop->is_whole = 1;
	loop->n = 2;
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
	node_key(f, loop);
	return 1;
}

/* Do the last nodes of the list repeat what comes before them?  b is the
 * first of them.  1: they have joined it. */
static int join_loop(struct fold *f, struct node *b, uint32_t period)
{
	struct node *a = b->previous, *loop = a;

	/* One more round of a loop, or of one that ends its rounds. */
	for (; loop && loop->period && !loop->is_given; loop = loop->last) {
		if (loop->period != period ||
		    !is_round(f, loop->first, b, period))
			continue;
		join_round(f, loop->first, b);
		loop->n++;
		return 1;
	}
	for (uint32_t i = 1; i < period && a; i++)
		a = a->previous;
	if (!a || a->is_given || !is_round(f, a, b, period))
		return 0;
	join_round(f, a, b);
	return loop_new(f, a, period);
}

/* Does the list's last node repeat the one before it, or a loop's last row,
 * which may be one of a loop within it? */
static int join_neighbour(struct fold *f, struct node *node)
{
	struct node *before = node->previous;

	while (!is_alike(f, before, node)) {
		if (!before->period || before->is_given)
			return 0;
		before = before->last;
	}
	join(f, before, node);
	node_drop(f, node);
	return 1;
}

/* The list's last node is whole. */
static int join_before(struct fold *f, struct node *above)
{
	struct node *b, *last;

again:
	last = b = above->last;
	if (!last->previous || !last->previous->is_whole ||
	    join_neighbour(f, last))
		return 0;
	for (uint32_t period = 2; period <= FOLD_PERIOD; period++) {
		const struct node *before;
		int status;

		b = b->previous;
		before = b->previous;
		if (!before || before->is_given)
			return 0;
		if (before->key != last->key && !before->period)
			continue;
		status = join_loop(f, b, period);
		if (status < 0)
			return status;
		if (status)
			goto again; /* the loop may be a row of another */
	}
	return 0;
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

	node->is_whole = 1;
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

static int give_row(struct fold *f, struct node *node)
{
	struct folded row = {.call = node->call,
			     .n_calls = node->n_calls,
			     .n_levels = node->n_levels,
			     .cookie = node->cookie};
	const struct node *above = node->above;

	node->is_given = 1;
	node->n_told = node->n_calls;
	node->told_ns = f->now_ns;
	if (node->period)
		return 0;
	if (above->period && above->first == node)
		row.n_loop = above->period;
	if (f->has_only) {
		const struct node *i = node;

		while (i && !is_only(f, i))
			i = i->above;
		if (!i)
			return 0;
	}
	return f->row(f->arg, &row);
}

/* A whole node with all below it. */
static int give_all(struct fold *f, struct node *top)
{
	int status = 0;

	for (struct node *i = top; i && status >= 0; i = node_after(i, top))
		status = give_row(f, i);
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
		if (node == &l->top || !node->is_whole)
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

	if (!node->is_whole)
		return give_row(f, node);
	status = give_all(f, node);
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

static struct lane_state *lane_of(struct fold *f, uint32_t lane)
{
	if (lane >= f->n_lanes) {
		uint64_t n = lane + 1ull + lane / 2;
		void *p = realloc(f->lanes, n * sizeof(*f->lanes));

		if (!p)
			return NULL;
		f->lanes = p;
		memset(f->lanes + f->n_lanes, 0,
		       (n - f->n_lanes) * sizeof(*f->lanes));
		f->n_lanes = (uint32_t)n;
	}
	if (!f->lanes[lane])
		f->lanes[lane] = calloc(1, sizeof(**f->lanes));
	return f->lanes[lane];
}

static int level_push(struct lane_state *l, struct node *node, uint32_t depth,
		      uint32_t n_inner)
{
	if (l->n == l->cap) {
		uint32_t cap = l->cap * 2 + 32;
		void *p = realloc(l->levels, cap * sizeof(*l->levels));

		if (!p)
			return CST_MEMORY;
		l->levels = p;
		l->cap = cap;
	}
	l->levels[l->n++] = (struct level){node, depth, n_inner};
	return 0;
}

static int level_pop(struct fold *f, struct lane_state *l)
{
	const struct level *level = &l->levels[--l->n];

	if (level->n_inner)
		return 0;
	level->node->is_own |= level->node->call.end == CALL_OPEN;
	return node_end(f, level->node);
}

/* The calls at this depth and below have ended. */
static int lane_pop(struct fold *f, struct lane_state *l, uint32_t depth)
{
	while (l->n && l->levels[l->n - 1].depth >= depth) {
		int status = level_pop(f, l);

		if (status < 0)
			return status;
	}
	return 0;
}

static int is_foldable(const struct shown *call)
{
	return call->end == CALL_RETURN && !call->is_seed && !call->is_stopped;
}

/* Is it one more level of its caller's recursion? */
static int is_inner(const struct fold *f, const struct level *caller,
		    const struct shown *call, uint32_t function)
{
	const struct node *node = caller->node;

	return node->function == function && caller->depth + 1 == call->depth &&
	       is_foldable(call) && is_foldable(&node->call) &&
	       !node->is_given && !(f->has_only && is_only(f, node));
}

static int add_inner(struct lane_state *l, const struct level *caller,
		     const struct shown *call)
{
	struct node *node = caller->node;
	uint32_t n_inner = caller->n_inner + 1;

	node->n_calls++;
	if (node->n_levels < n_inner + 1)
		node->n_levels = n_inner + 1;
	return level_push(l, node, call->depth, n_inner);
}

/* A live call that is open may return yet; what an exception does is no call.
 */
static int joins(const struct fold *f, const struct shown *call,
		 uint32_t function)
{
	int is_running = f->is_live && call->end == CALL_OPEN && !call->is_seed;

	return (is_foldable(call) || is_running) &&
	       !f->names->functions[function].exception;
}

int fold_add(struct fold *f, const struct shown *call, uint64_t cookie)
{
	uint32_t function = f->names->sites[call->site].function;
	struct lane_state *l = lane_of(f, call->lane);
	const struct level *caller;
	struct node *node;
	int status;

	if (!l)
		return CST_MEMORY;
	status = lane_pop(f, l, call->depth);
	if (status < 0)
		return status;
	caller = l->n ? &l->levels[l->n - 1] : NULL;
	if (caller && is_inner(f, caller, call, function))
		return add_inner(l, caller, call);
	node = node_new(f);
	if (!node)
		return CST_MEMORY;
	node->call = *call;
	node->cookie = cookie;
	node->function = function;
	node->order = f->n_added++;
	node->is_own = !joins(f, call, function);
	if (caller) {
		node->call.depth -= caller->depth - caller->node->call.depth;
		/* Of a recursion that is shown level by level. */
		node->is_only = f->has_only &&
				caller->node->function == function &&
				is_only(f, caller->node);
	}
	node_append(caller ? caller->node : &l->top, node);
	status = level_push(l, node, call->depth, 0);
	if (status == 0 && f->n_held > MAX_HELD && !f->is_live)
		status = give_until(f, MAX_HELD / 4 * 3);
	return status;
}

int fold_end(struct fold *f)
{
	for (uint32_t i = 0; i < f->n_lanes; i++) {
		int status = f->lanes[i] ? lane_pop(f, f->lanes[i], 0) : 0;

		if (status < 0)
			return status;
	}
	return give_until(f, 0);
}

/* ---- live -------------------------------------------------------------------
 */

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
		if (i->is_whole && !i->is_own &&
		    i->call.site == node->call.site &&
		    (age < OPEN_NS || age / FOLD_SLOW <= mean_ns(i)))
			return 1;
	return 0;
}

/* Tell the counts of the nodes in a list that are of one site, in one row. */
static int give_count(struct fold *f, const struct node *node)
{
	struct folded row = {.call = node->call,
			     .n_levels = node->n_levels,
			     .is_count = 1,
			     .cookie = node->cookie};

	row.call.duration_ns = 0;
	for (struct node *i = node->above->first; i; i = i->next) {
		if (!i->is_whole || i->is_own || i->period ||
		    i->call.site != node->call.site)
			continue;
		row.n_calls += i->n_calls;
		row.call.duration_ns += i->call.duration_ns;
		if (row.call.start_ns < i->call.start_ns)
			row.call.start_ns = i->call.start_ns;
		i->n_told = i->n_calls;
		i->told_ns = f->now_ns;
	}
	return f->row(f->arg, &row);
}

/* One node of the screen's.  1: what is below it is of the screen's, too. */
static int show_node(struct fold *f, struct node *node, int is_stop)
{
	if (node->is_given && node->is_whole) {
		int is_due = is_stop || f->now_ns - node->told_ns >= COUNT_NS;

		return node->n_calls > node->n_told && is_due
			       ? give_count(f, node)
			       : 0;
	}
	if (node->is_whole)
		return give_all(f, node);
	if (node->is_given)
		return 1;
	if (!is_stop && is_expected(f, node))
		return 0;
	return give_row(f, node) < 0 ? CST_MEMORY : 1;
}

/* Of what is on the screen enough is kept to know it again. */
static void node_trim(struct fold *f, struct node *above)
{
	struct node *i = above->last, *previous;

	for (int n = 0; i; i = previous) {
		struct node *other;

		previous = other = i->previous;
		if (!i->is_given || !i->is_whole)
			continue;
		while (other && (!other->is_given || !other->is_whole ||
				 other->is_own || other->key != i->key))
			other = other->previous;
		if (other && !i->is_own) {
			other->n_told += i->n_told;
			join(f, other, i);
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
			status = level_pop(f, l);
		if (l && status == 0)
			status = show_below(f, &l->top, is_stop);
		if (status < 0)
			return status;
	}
	return f->n_held > MAX_HELD ? fold_forget(f) : 0;
}

/* Its row is on the screen. */
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
	l->n--;
	node_drop(f, node);
	return status;
}

static int close_unknown(struct fold *f, const struct shown *call,
			 uint64_t cookie)
{
	const struct folded row = {.call = *call,
				   .n_calls = 1,
				   .n_levels = 1,
				   .is_close = 1,
				   .cookie = cookie};

	return f->row(f->arg, &row);
}

int fold_close(struct fold *f, const struct shown *call, uint64_t cookie)
{
	struct lane_state *l = lane_of(f, call->lane);
	struct node *node;
	int status;

	if (!l)
		return CST_MEMORY;
	status = lane_pop(f, l, call->depth + 1);
	if (status < 0)
		return status;
	if (!l->n)
		return close_unknown(f, call, cookie);
	node = l->levels[l->n - 1].node;
	if (node->call.number != call->number ||
	    node->call.thread != call->thread ||
	    node->call.is_seed != call->is_seed)
		return close_unknown(f, call, cookie);
	node->call.duration_ns = call->duration_ns;
	node->call.end = call->end;
	node->call.is_stopped = call->is_stopped;
	node->is_own |= !is_foldable(call);
	if (node->is_given)
		return close_given(f, l, node);
	return level_pop(f, l);
}

static void forget_below(struct fold *f, struct node *top)
{
	struct node *node = top->first;

	while (node) {
		struct node *next = node->is_whole ? NULL : node->first;
		struct node *above = node->above;

		node->is_own = 1;
		if (!next)
			next = node->next;
		while (!next && above != top) {
			next = above->next;
			above = above->above;
		}
		if (node->is_whole)
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
	while (f->slabs) {
		struct slab *next = f->slabs->next;

		free(f->slabs);
		f->slabs = next;
	}
	free(f);
}
