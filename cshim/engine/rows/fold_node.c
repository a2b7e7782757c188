/* SPDX-License-Identifier: MIT
 *
 * When a call is whole its key is a hash over its function and the file that it
 * was called from, and a loop's over those of its rows.
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
			s->nodes[i].call.values = NULL;
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

void node_move(struct node *node, struct node *behind)
{
	struct node *above = behind->above;

	node_unlink(node);
	node->above = above;
	node->previous = behind;
	node->next = behind->next;
	if (behind->next)
		behind->next->previous = node;
	else
		above->last = node;
	behind->next = node;
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
		values_drop(node->call.values);
		node->call.values = NULL;
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

		for (uint32_t i = 0; i < SLAB_NODES; i++)
			values_drop(f->slabs->nodes[i].call.values);
		free(f->slabs);
		f->slabs = next;
	}
}

void node_dissolve(struct fold *f, struct node *loop)
{
	while (loop->last)
		node_move(loop->last, loop);
	node_drop(f, loop);
}

/* ---- are two alike? ---------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/* The place is that of the row, which another site may share. */
static uint64_t call_key(struct fold *f, struct node *node)
{
	const struct call_site *from = &f->names->sites[node->call.from];

	node->file = from->file;
	node->first_line = node->last_line = from->line;
	if (function_is_instant(&f->names->functions[node->function]))
		node->text = values_hash(node->call.values);
	else /* those by a jump are rows of their own */
		node->text = f->names->sites[node->call.site].is_tail;
	return mix(mix(mix(~0ull, node->function), (uintptr_t)node->file),
		   node->text);
}

void node_key(struct fold *f, struct node *node)
{
	node->key = node->period ? node->period : call_key(f, node);
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
	return a->call.duration_ns / a->n;
}

static int is_slow(uint64_t ns, uint64_t mean)
{
	return ns > FOLD_SLOW_NS && ns / FOLD_SLOW > mean;
}

enum speed node_speed(const struct node *a, const struct node *b)
{
	if (a->period)
		return AS_FAST;
	if (is_slow(node_mean_ns(b), node_mean_ns(a)))
		return MUCH_SLOWER;
	return is_slow(node_mean_ns(a), node_mean_ns(b)) ? MUCH_FASTER
							 : AS_FAST;
}

/* Whether b may join a's row: their keys are equal, so they are calls of one
 * function from one file or loops of such, and a's row can still change. */
static int node_is_kin(const struct fold *f, const struct node *a,
		       const struct node *b)
{
	return a->key == b->key && !a->is_own && (!a->is_given || f->is_live);
}

int node_has_lines(const struct node *a, const struct node *b)
{
	if (!a->period)
		return a->first_line < a->last_line ||
		       (a->first_line == b->first_line &&
			a->last_line == b->last_line);
	for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
		if (!node_has_lines(a, b))
			return 0;
	return 1;
}

int node_is_alike(struct fold *f, const struct node *a, struct node *b,
		  int is_kin_enough)
{
	/* The rows of two loops would not find each other by kin. */
	if (!node_is_kin(f, a, b) ||
	    !((is_kin_enough && !a->period) || node_has_lines(a, b)))
		return 0;
	if (!f->has_only || a->period || !node_is_only(f, a))
		return 1;
	b->is_only = 1;
	return 0;
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
	return !a->is_own && !a->is_aside && a->function == b->function &&
	       a->file == b->file && a->text == b->text && node_has_lines(a, b);
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

/* The slow rows of to's place, one of which b's call may be one more of. */
static struct node *slow_row_for(struct node *a, const struct node *b)
{
	struct node *i = a->last;

	for (int n = 0; i && n < MAX_KINDS; i = i->previous, n++)
		if (i->is_aside && !i->is_own && i->function == b->function &&
		    i->file == b->file && i->text == b->text &&
		    node_has_lines(i, b) && node_speed(i, b) == AS_FAST)
			return i;
	return NULL;
}

/* Which row of a's the one of b's is one more of.  NULL: it stays for itself,
 * as `to` is much slower, or it is itself. */
static struct node *row_of_speed(struct node *a, struct node *to,
				 struct node *row)
{
	switch (node_speed(to, row)) {
	case AS_FAST:
		return to;
	case MUCH_FASTER:
		to->is_aside = 1;
		return NULL;
	default:
		to = slow_row_for(a, row);
		row->is_aside = !to;
		return to;
	}
}

static void join_lines(struct node *a, const struct node *b)
{
	if (a->first_line > b->first_line)
		a->first_line = b->first_line;
	if (a->last_line < b->last_line)
		a->last_line = b->last_line;
}

void node_join(struct fold *f, struct node *a, struct node *b)
{
	struct node *from = NULL, *row;

	a->n += b->n;
	a->n_calls += b->n_calls;
	a->call.duration_ns += b->call.duration_ns;
	if (b->call.end == CALL_ESTIMATED)
		a->call.end = CALL_ESTIMATED;
	a->has_other_values |= b->has_other_values ||
			       !values_equal(a->call.values, b->call.values);
	if (a->n_levels < b->n_levels)
		a->n_levels = b->n_levels;
	join_lines(a, b);
	while ((row = row_after(NULL, b))) {
		struct node *to = row->is_aside ? NULL : row_for(a, from, row);

		row_unlink(f, row, b);
		if (to && f->has_only && node_is_only(f, to))
			row->is_only = 1;
		else if (to)
			to = from = row_of_speed(a, to, row);
		else if (row->is_aside)
			to = slow_row_for(a, row);
		if (to && !row->is_only)
			node_join(f, to, row);
		node_append(a, row);
		if (to && !row->is_only)
			node_drop(f, row);
	}
}

int node_has_all(struct node *a, const struct node *b)
{
	struct node *from = NULL;

	for (struct node *i = row_after(NULL, b); i; i = row_after(i, b)) {
		struct node *to = i->is_aside ? NULL : row_for(a, from, i);

		if (to)
			from = to;
		/* node_join() chooses in the same way. */
		if (!to || node_speed(to, i) == MUCH_SLOWER)
			to = slow_row_for(a, i);
		if (!to || !node_has_all(to, i))
			return 0;
	}
	return 1;
}
