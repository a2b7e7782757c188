/* SPDX-License-Identifier: MIT
 *
 * Searches backwards, block by block, for the calls that are open around one in
 * the middle of a lane.
 */
#include "trace/callers.h"
#include "base/outfile.h"
#include "base/search.h"
#include "trace/finish.h"

#include <stdlib.h>

struct search {
	const struct cst_trace *t;
	const struct trace_lane *lane;
	struct decoder decoder;
	struct unpacked block; /* the one being looked through */
	struct caller *callers;
	uint32_t n_wanted; /* those of lower depth are not found yet */
};

/* Where the block is among its lane's. */
static uint32_t block_place(const struct cst_trace *t,
			    const struct pack_info *info)
{
	const uint32_t *blocks =
		t->lane_blocks + t->lanes[info->lane].blocks_at;

	return search_while(i, t->lanes[info->lane].n_blocks - 1,
			    t->blocks[blocks[i + 1]].info.first_seq <=
				    info->first_seq);
}

/* A copy of what call i of the block has; NULL: nothing, or no memory. */
static struct values *values_at(const struct unpacked *block, uint32_t i)
{
	const uint8_t *bytes = block->values.bytes.data;
	const struct valued *v;

	if (!block->calls[i].has_values)
		return NULL;
	v = block_values_of(&block->values, i);
	return values_new(bytes + v->at, v->n, bytes + v->at + v->n,
			  v->n_result);
}

/* Looks for callers among the block's first n calls: depths grow by one at a
 * time, so the last call of a lower depth is the caller. */
static int search_block(struct search *s, uint32_t block, uint32_t n,
			struct cst_error *err)
{
	const struct pack_info *info = &s->t->blocks[block].info;
	int status = decoder_unpack(&s->decoder, s->t, block, &s->block, err);

	if (status < 0)
		return status;
	for (uint32_t i = n; i-- > 0 && s->n_wanted;) {
		const struct packed_call *c = &s->block.calls[i];

		if (c->depth + 1 != s->n_wanted)
			continue;
		s->callers[--s->n_wanted] = (struct caller){
			*c,
			unpacked_number(&s->block, info, i),
			unpacked_thread(&s->block, info, i),
			values_at(&s->block, i),
		};
	}
	return 0;
}

/* A call that is open over the end of its block ends late, or never: what
 * other blocks hold cannot be a caller of what comes at `tick`.  The late ends
 * up to *late are those of this block and others before it. */
static int holds_open(const struct cst_trace *t, const struct pack_info *info,
		      uint64_t tick, uint32_t *late)
{
	uint32_t n_late = 0;
	int is_open = 0;

	for (; *late; --*late, n_late++) {
		const struct trace_late *l = &t->late[*late - 1];

		if (l->lane != info->lane || l->seq < info->first_seq)
			break;
		is_open |= l->end_ticks >= tick;
	}
	return is_open || info->n_calls - info->n_closed > n_late;
}

/* From call `at` of the lane's block `place` back. */
static int search_back(struct search *s, uint32_t place, uint32_t at,
		       struct cst_error *err)
{
	const uint32_t *blocks = s->t->lane_blocks + s->lane->blocks_at;
	const struct pack_info *first = &s->t->blocks[blocks[place]].info;
	uint32_t late = loader_late(s->t, first->lane, first->first_seq);
	int status = 0;

	if (at)
		status = search_block(s, blocks[place], at, err);
	while (status == 0 && s->n_wanted && place--) {
		const struct pack_info *info =
			&s->t->blocks[blocks[place]].info;

		if (!holds_open(s->t, info, first->first_tick, &late))
			continue;
		if (outfile_is_interrupted())
			return cst_fail(CST_INTERRUPTED, err, "interrupted");
		status = search_block(s, blocks[place], info->n_calls, err);
	}
	if (status == 0 && s->n_wanted)
		return loader_damaged(s->t, err, "calls lack their callers");
	return status;
}

void callers_free(struct caller *callers, uint32_t depth)
{
	for (uint32_t i = 0; callers && i < depth; i++)
		values_drop(callers[i].values);
	free(callers);
}

int callers_find(const struct cst_trace *t, uint32_t block, uint32_t at,
		 uint32_t depth, struct caller **out, struct cst_error *err)
{
	const struct pack_info *info = &t->blocks[block].info;
	struct search s = {
		.t = t, .lane = &t->lanes[info->lane], .n_wanted = depth};
	int status = 0;

	/* Each has its place in the lane before the call. */
	if (depth > info->first_seq + at)
		return loader_damaged(t, err, "calls lack their callers");
	s.callers = calloc(depth + (size_t)1, sizeof(*s.callers));
	if (!s.callers)
		return cst_fail_memory(err);
	if (depth)
		status = search_back(&s, block_place(t, info), at, err);
	decoder_release(&s.decoder);
	unpacked_release(&s.block);
	if (status < 0) {
		callers_free(s.callers, depth);
		return status;
	}
	*out = s.callers;
	return 0;
}
