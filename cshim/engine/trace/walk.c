/* SPDX-License-Identifier: MIT
 *
 * A merge of the lanes by a heap.  A run lasts as long as no other lane's next
 * call is due, so one lane alone never touches the heap within a block.
 */
#include "trace/walk.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/search.h"

#include <stdlib.h>

enum {
	/* Calls that all lanes may hold unpacked, at up to 44 bytes: 64 MiB. */
	MOST_HELD = 3 << 19,
};

struct walk_lane {
	uint64_t key;  /* start of its next call */
	uint32_t rank; /* among equal keys */
	uint32_t lane;
	uint32_t block; /* unpacked, or to be unpacked next */
	uint8_t is_unpacked;
	uint8_t is_skipping; /* to where the part begins */
	uint8_t is_midway;   /* begins behind the lane's first call */
	uint32_t at, n;
	uint32_t next_depth; /* the deepest that the next call may be */
	struct unpacked held;
};

struct walk {
	const struct cst_trace *t;
	int is_by_lane;
	struct walk_lane *lanes;
	uint32_t *heap; /* indexes of lanes, the first due on top */
	uint32_t n_heap;
	uint64_t n_held; /* sum of the lanes' cap */
	uint32_t over; /* the lane whose last run was handed out, or NO_BLOCK */
	struct walk_part part;
	struct decoder decoder;
};

/* What is not used up is unpacked again when its time comes. */
static void lane_forget(struct walk *w, struct walk_lane *l)
{
	w->n_held -= l->held.cap;
	unpacked_release(&l->held);
	l->is_unpacked = 0;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->lanes && i < w->t->n_lanes; i++)
		lane_forget(w, &w->lanes[i]);
	free(w->lanes);
	free(w->heap);
	decoder_release(&w->decoder);
	free(w);
}

static int is_before(const struct walk *w, uint32_t a, uint32_t b)
{
	const struct walk_lane *x = &w->lanes[a], *y = &w->lanes[b];

	return x->key != y->key ? x->key < y->key : x->rank < y->rank;
}

static void heap_down(struct walk *w, uint32_t i)
{
	uint32_t moved = w->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= w->n_heap)
			break;
		if (child + 1 < w->n_heap &&
		    is_before(w, w->heap[child + 1], w->heap[child]))
			child++;
		if (!is_before(w, w->heap[child], moved))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = moved;
}

/* Lanes in the order of calls that begin at one time: by process, thread, lane.
 */
struct ranked {
	uint32_t process, thread, ordinal, lane;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The last block that begins before the part does may reach into it. */
static void lane_begin(const struct walk *w, struct walk_lane *l)
{
	const struct cst_trace *t = w->t;
	const struct trace_lane *lane = &t->lanes[l->lane];
	const uint32_t *blocks = t->lane_blocks + lane->blocks_at;
	uint32_t before = search_while(i, lane->n_blocks,
				       t->blocks[blocks[i]].info.first_tick <
					       w->part.from);

	l->is_skipping = before > 0;
	l->block = blocks[before ? before - 1 : 0];
	l->is_midway = before > 0;
	l->next_depth = before ? UINT32_MAX : 0;
	l->key = t->blocks[l->block].info.first_tick;
	if (l->key < w->part.from)
		l->key = w->part.from;
}

static void walk_begin(struct walk *w, struct ranked *order)
{
	const struct cst_trace *t = w->t;

	for (uint32_t i = 0; i < t->n_lanes; i++) {
		const struct trace_lane *l = &t->lanes[i];

		order[i] = (struct ranked){l->process,
					   t->threads[l->thread].ordinal,
					   l->ordinal, i};
	}
	qsort(order, t->n_lanes, sizeof(*order), ranked_compare);
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		uint32_t lane = order[i].lane;
		struct walk_lane *l = &w->lanes[lane];

		if (!t->lanes[lane].n_blocks ||
		    (w->part.lanes && !w->part.lanes[lane]))
			continue;
		l->lane = lane;
		l->rank = i;
		lane_begin(w, l);
		if (w->is_by_lane)
			l->key = i;
		w->heap[w->n_heap++] = lane;
	}
	for (uint32_t i = w->n_heap / 2; i-- > 0;)
		heap_down(w, i);
}

struct walk_part walk_range(const struct cst_trace *t,
			    const struct cst_choice *choice)
{
	struct walk_part part = {0};

	if (choice->range_from_ns)
		part.from =
			t->start_ticks + trace_ticks(t, choice->range_from_ns);
	/* The last tick before the next nanosecond. */
	if (choice->range_until_ns)
		part.until = t->start_ticks +
			     trace_ticks(t, choice->range_until_ns + 1) - 1;
	return part;
}

int walk_new(const struct cst_trace *t, int is_by_lane, struct walk **out,
	     struct cst_error *err)
{
	const struct walk_part all = {0};

	return walk_new_part(t, &all, is_by_lane, out, err);
}

int walk_new_part(const struct cst_trace *t, const struct walk_part *part,
		  int is_by_lane, struct walk **out, struct cst_error *err)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct ranked *order = malloc((t->n_lanes + 1) * sizeof(*order));

	if (w) {
		w->t = t;
		w->is_by_lane = is_by_lane;
		w->part = *part;
		w->over = NO_BLOCK;
		w->lanes = calloc(t->n_lanes + 1, sizeof(*w->lanes));
		w->heap = calloc(t->n_lanes + 1, sizeof(*w->heap));
	}
	if (!w || !order || !w->lanes || !w->heap) {
		free(order);
		walk_free(w);
		return cst_fail_memory(err);
	}
	walk_begin(w, order);
	free(order);
	*out = w;
	return 0;
}

/* Many lanes have a long block each that is not over yet: forget those of the
 * largest other ones. */
static void walk_shrink(struct walk *w, const struct walk_lane *asking)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < w->n_heap; i++) {
		const struct walk_lane *l = &w->lanes[w->heap[i]];

		if (l != asking && l->held.cap > largest)
			largest = l->held.cap;
	}
	for (uint32_t i = 0; largest && i < w->n_heap; i++) {
		struct walk_lane *l = &w->lanes[w->heap[i]];

		if (l != asking && l->held.cap > largest / 2)
			lane_forget(w, l);
	}
}

static int lane_unpack(struct walk *w, struct walk_lane *l,
		       struct cst_error *err)
{
	const struct pack_info *info = &w->t->blocks[l->block].info;
	int status;

	if (info->n_calls > l->held.cap) {
		lane_forget(w, l);
		if (w->n_held + info->n_calls > MOST_HELD)
			walk_shrink(w, l);
	}
	w->n_held -= l->held.cap;
	status = decoder_unpack(&w->decoder, w->t, l->block, &l->held, err);
	w->n_held += l->held.cap;
	if (status < 0)
		return status;
	if (info->depth > l->next_depth)
		return loader_damaged(w->t, err, "a block of calls is bad");
	l->n = info->n_calls;
	l->is_unpacked = 1;
	return 0;
}

/* Go on to the block behind; 0: there is none. */
static int lane_next_block(const struct walk *w, struct walk_lane *l)
{
	l->next_depth = l->held.calls[l->n - 1].depth + 1;
	l->at = 0;
	l->block = w->t->blocks[l->block].next;
	l->is_unpacked = 0;
	if (w->part.until && l->block != NO_BLOCK &&
	    w->t->blocks[l->block].info.first_tick > w->part.until)
		l->block = NO_BLOCK;
	return l->block != NO_BLOCK;
}

/* Have the lane's next call unpacked; 0: there is none any more. */
static int lane_ready(struct walk *w, struct walk_lane *l,
		      struct cst_error *err)
{
	do {
		int status = lane_unpack(w, l, err);

		if (status < 0)
			return status;
		while (l->is_skipping && l->at < l->n &&
		       l->held.calls[l->at].start < w->part.from)
			l->at++;
	} while (l->at == l->n && lane_next_block(w, l));
	if (l->block == NO_BLOCK)
		return 0;
	l->is_skipping = 0;
	if (!w->is_by_lane)
		l->key = l->held.calls[l->at].start;
	return 1;
}

/* How many calls of the top lane come before the next lane's first. */
static uint32_t run_length(const struct walk *w, const struct walk_lane *top)
{
	const struct walk_lane *next = NULL;
	uint32_t i = top->at + 1;

	if (w->n_heap > 1)
		next = &w->lanes[w->heap[1]];
	if (w->n_heap > 2 && is_before(w, w->heap[2], w->heap[1]))
		next = &w->lanes[w->heap[2]];
	if (!next || w->is_by_lane)
		return top->n - top->at;
	while (i < top->n && (top->held.calls[i].start < next->key ||
			      (top->held.calls[i].start == next->key &&
			       top->rank < next->rank)))
		i++;
	return i - top->at;
}

static void run_fill(const struct walk *w, struct walk_lane *l, uint32_t n,
		     struct run *out)
{
	const struct pack_info *info = &w->t->blocks[l->block].info;

	*out = (struct run){
		.lane = l->lane,
		.n = n,
		.calls = l->held.calls + l->at,
		.numbers = info->flags & PACK_NUMBERS ? l->held.numbers + l->at
						      : NULL,
		.threads = info->flags & PACK_THREADS ? l->held.threads + l->at
						      : NULL,
		.values = l->held.values.n ? &l->held.values : NULL,
		.first_number = info->first_number + l->at,
		.thread = info->thread,
		.block = l->block,
		.at = l->at,
		.is_midway = l->is_midway,
	};
	l->is_midway = 0;
}

/* Where the lane stands after n calls; 0: it is over. */
static int lane_advance(struct walk *w, struct walk_lane *l, uint32_t n)
{
	l->at += n;
	if (l->at == l->n && !lane_next_block(w, l))
		return 0;
	if (w->is_by_lane)
		return 1;
	l->key = l->is_unpacked ? l->held.calls[l->at].start
				: w->t->blocks[l->block].info.first_tick;
	return 1;
}

int walk_next(struct walk *w, struct run *out, struct cst_error *err)
{
	struct walk_lane *top;
	uint32_t n;
	int status;

	if (w->over != NO_BLOCK)
		lane_forget(w, &w->lanes[w->over]);
	w->over = NO_BLOCK;
	if (outfile_is_interrupted())
		return cst_fail(CST_INTERRUPTED, err, "interrupted");
	for (;;) {
		if (!w->n_heap)
			return 0;
		top = &w->lanes[w->heap[0]];
		if (w->part.until && top->key > w->part.until)
			return 0;
		if (top->is_unpacked)
			break;
		status = lane_ready(w, top, err);
		if (status < 0)
			return status;
		if (status == 0) {
			lane_forget(w, top);
			w->heap[0] = w->heap[--w->n_heap];
		}
		if (w->n_heap)
			heap_down(w, 0);
	}
	n = run_length(w, top);
	run_fill(w, top, n, out);
	progress_add(n);
	if (!lane_advance(w, top, n)) {
		out->is_last = 1;
		w->over = top->lane;
		w->heap[0] = w->heap[--w->n_heap];
	}
	if (w->n_heap)
		heap_down(w, 0);
	return 1;
}

void walk_swap(struct walk *w, const struct run *run, struct unpacked *other)
{
	struct walk_lane *l = &w->lanes[run->lane];
	struct unpacked mine = l->held;

	w->n_held += other->cap;
	w->n_held -= mine.cap;
	l->held = *other;
	*other = mine;
}

int run_meets(const struct run *run, uint32_t i, const struct packed_call *c,
	      const struct function *f, const struct where *w)
{
	const struct valued *v;

	if (!c->has_values || !run->values)
		return 0;
	v = block_values_of(run->values, run->at + i);
	return where_holds(w, f, run->values->bytes.data + v->at, v->n,
			   v->n_result);
}

int run_first(const struct run *run, uint32_t i, const struct packed_call *c,
	      struct value *out)
{
	const struct valued *v;
	struct value_list list;

	if (!c->has_values || !run->values)
		return 0;
	v = block_values_of(run->values, run->at + i);
	list = value_list(run->values->bytes.data + v->at, v->n, NULL);
	return value_next(&list, out);
}
