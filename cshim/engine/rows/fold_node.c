/* SPDX-License-Identifier: MIT
 *
 * When a call is whole, its shape is a hash over its site and the shapes of
 * what it called; equal shapes make one node.
 */
#include "rows/fold_parts.h"

#include <stdlib.h>

enum {
	SLAB_NODES = 256,
	MAX_HEIGHT = 200, /* higher trees are not compared */
};

struct slab {
	struct slab *next;
	struct node nodes[SLAB_NODES];
};

struct node *node_new(struct fold *f)
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

void node_append(struct node *above, struct node *node)
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

/* This does without recursion: the tree may be as high as the calls were deep.
 */
void node_drop(struct fold *f, struct node *node)
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

struct node *node_after(const struct node *node, const struct node *top)
{
	if (node->first)
		return node->first;
	while (node != top && !node->next)
		node = node->above;
	return node == top ? NULL : node->next;
}

void node_free_all(struct fold *f)
{
	while (f->slabs) {
		struct slab *next = f->slabs->next;

		free(f->slabs);
		f->slabs = next;
	}
}

/* ---- are two alike? ---------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

void node_key(struct fold *f, struct node *node)
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

int node_is_only(const struct fold *f, const struct node *node)
{
	return node->is_only || (node->call.number == f->only_number &&
				 node->call.thread == f->only_thread &&
				 node->call.is_seed == f->only_is_seed);
}

uint64_t node_mean_ns(const struct node *a)
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

	if (a->period || (!is_slow(mean_of_b, node_mean_ns(a)) &&
			  !is_slow(a->call.duration_ns / a->n, mean_of_b)))
		return 1;
	a->n_slow += b->n;
	a->slow_ns += b->call.duration_ns;
	return 0;
}

int node_is_alike(struct fold *f, struct node *a, struct node *b)
{
	if (a->key != b->key || a->is_own || (a->is_given && !f->is_live))
		return 0;
	if (f->has_only && !a->period && node_is_only(f, a)) {
		b->is_only = 1;
		return 0;
	}
	return is_as_fast(a, b);
}

/* The node's first row, where it is a loop. */
static struct node *first_row(struct node *node)
{
	while (node && node->period)
		node = node->first;
	return node;
}

/* The next row below `top`, which may be in one of its loops. */
static struct node *row_after(struct node *row, const struct node *top)
{
	if (!row)
		return first_row(top->first);
	while (!row->next && row->above != top)
		row = row->above;
	return first_row(row->next);
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

void node_join(struct fold *f, struct node *a, struct node *b)
{
	struct node *from = NULL, *row;

	a->n += b->n;
	a->n_calls += b->n_calls;
	a->call.duration_ns += b->call.duration_ns;
	if (a->n_levels < b->n_levels)
		a->n_levels = b->n_levels;
	while ((row = row_after(NULL, b))) {
		struct node *to = row_for(a, from, row);
		int is_unfolded = to && f->has_only && node_is_only(f, to);

		row_unlink(f, row, b);
		if (to && !is_unfolded && is_as_fast(to, row)) {
			node_join(f, to, row);
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

int node_has_all(struct node *a, const struct node *b)
{
	struct node *from = NULL;

	for (struct node *i = row_after(NULL, b); i; i = row_after(i, b)) {
		from = row_for(a, from, i);
		if (!from || !node_has_all(from, i))
			return 0;
	}
	return 1;
}
