/* SPDX-License-Identifier: MIT
 *
 * A merge of the lanes by a heap.  A run lasts as long as no other lane's next
 * call is due, so one lane alone never touches the heap within a block.
 */
#include "walk.h"
#include "sink.h"

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
	struct unpacker unpacker;
	struct bytes data;
};

void unpacked_release(struct unpacked *u)
{
	free(u->calls);
	free(u->numbers);
	free(u->threads);
	*u = (struct unpacked){0};
}

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
	unpacker_release(&w->unpacker);
	bytes_release(&w->data);
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

/* Lanes in the order in which ties are told: by process, thread, lane. */
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
		uint32_t block = t->lanes[lane].first_block;
		struct walk_lane *l = &w->lanes[lane];

		if (block == NO_BLOCK)
			continue;
		l->lane = lane;
		l->block = block;
		l->rank = i;
		l->key = w->is_by_lane ? i : t->blocks[block].info.first_tick;
		w->heap[w->n_heap++] = lane;
	}
	for (uint32_t i = w->n_heap / 2; i-- > 0;)
		heap_down(w, i);
}

int walk_new(const struct cst_trace *t, int is_by_lane, struct walk **out,
	     struct cst_error *err)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct ranked *order = malloc((t->n_lanes + 1) * sizeof(*order));

	if (w) {
		w->t = t;
		w->is_by_lane = is_by_lane;
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

void walk_only(struct walk *w, uint32_t lane)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_heap; i++)
		if (w->heap[i] == lane)
			w->heap[n++] = lane;
	w->n_heap = n;
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

static int lane_buffers(struct walk *w, struct walk_lane *l,
			const struct pack_info *info)
{
	uint32_t n = info->n_calls;

	if (n > l->held.cap) {
		lane_forget(w, l);
		if (w->n_held + n > MOST_HELD)
			walk_shrink(w, l);
		l->held.calls = malloc(n * sizeof(*l->held.calls));
		l->held.cap = l->held.calls ? n : 0;
		w->n_held += l->held.cap;
	}
	if (info->flags & PACK_NUMBERS && !l->held.numbers)
		l->held.numbers =
			malloc(l->held.cap * sizeof(*l->held.numbers));
	if (info->flags & PACK_THREADS && !l->held.threads)
		l->held.threads =
			malloc(l->held.cap * sizeof(*l->held.threads));
	return l->held.cap &&
			       (l->held.numbers ||
				!(info->flags & PACK_NUMBERS)) &&
			       (l->held.threads ||
				!(info->flags & PACK_THREADS))
		       ? 0
		       : -1;
}

static const struct trace_late *find_late(const struct cst_trace *t,
					  uint32_t lane, uint64_t seq)
{
	uint32_t low = 0, high = t->n_late;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct trace_late *l = &t->late[mid];

		if (l->lane < lane || (l->lane == lane && l->seq < seq))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < t->n_late && t->late[low].lane == lane &&
	    t->late[low].seq == seq)
		return &t->late[low];
	return NULL;
}

static void fill_late(const struct cst_trace *t, struct walk_lane *l,
		      const struct pack_info *info)
{
	for (uint32_t i = 0; i < info->n_calls; i++) {
		struct packed_call *c = &l->held.calls[i];
		const struct trace_late *late;

		if (c->end != CALL_OPEN)
			continue;
		late = find_late(t, l->lane, info->first_seq + i);
		if (!late)
			continue;
		c->duration = late->end_ticks - c->start;
		c->end = late->end;
	}
}

static int is_sound(const struct cst_trace *t, const struct walk_lane *l,
		    const struct pack_info *info)
{
	uint32_t largest = 0;

	if (info->depth > l->next_depth)
		return 0;
	for (uint32_t i = 0; i < info->n_calls; i++)
		if (l->held.calls[i].site > largest)
			largest = l->held.calls[i].site;
	for (uint32_t i = 0; info->flags & PACK_THREADS && i < info->n_calls;
	     i++)
		if (l->held.threads[i] >= t->n_threads)
			return 0;
	return largest < t->names->n_sites;
}

static int lane_unpack(struct walk *w, struct walk_lane *l,
		       struct cst_error *err)
{
	const struct trace_block *block = &w->t->blocks[l->block];
	const struct pack_info *info = &block->info;
	uint8_t *data;
	int status;

	w->data.len = 0;
	data = bytes_reserve(&w->data, block->data_size + 1ull);
	if (!data || lane_buffers(w, l, info) < 0)
		return cst_fail_memory(err);
	if (loader_read(w->t, block->data_at, data, block->data_size) < 0)
		return loader_damaged(w->t, err, "calls cannot be read");
	status = unpacker_unpack(&w->unpacker, info, data, block->data_size,
				 l->held.calls, l->held.numbers,
				 l->held.threads);
	if (status == CST_MEMORY)
		return cst_fail_memory(err);
	if (status < 0 || !is_sound(w->t, l, info))
		return loader_damaged(w->t, err, "a block of calls is bad");
	if (info->n_calls > info->n_closed || info->n_marks)
		fill_late(w->t, l, info);
	l->n = info->n_calls;
	l->is_unpacked = 1;
	if (!w->is_by_lane)
		l->key = l->held.calls[l->at].start;
	return 0;
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

static void run_fill(const struct walk *w, const struct walk_lane *l,
		     uint32_t n, struct run *out)
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
		.first_number = info->first_number + l->at,
		.thread = info->thread,
	};
}

/* Where the lane stands after n calls; 0: it is over. */
static int lane_advance(struct walk *w, struct walk_lane *l, uint32_t n)
{
	l->at += n;
	if (l->at == l->n) {
		l->next_depth = l->held.calls[l->n - 1].depth + 1;
		l->at = 0;
		l->block = w->t->blocks[l->block].next;
		l->is_unpacked = 0;
		if (l->block == NO_BLOCK)
			return 0;
	}
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
	if (sink_is_interrupted())
		return cst_fail(CST_INTERRUPTED, err, "interrupted");
	for (;;) {
		if (!w->n_heap)
			return 0;
		top = &w->lanes[w->heap[0]];
		if (top->is_unpacked)
			break;
		status = lane_unpack(w, top, err);
		if (status < 0)
			return status;
		heap_down(w, 0);
	}
	n = run_length(w, top);
	run_fill(w, top, n, out);
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
