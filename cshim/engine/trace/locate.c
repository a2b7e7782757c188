/* SPDX-License-Identifier: MIT
 *
 * Finds a call by its number in the blocks that may have it, and unpacks only
 * those.
 */
#include "trace/locate.h"
#include "trace/decode.h"

struct locate {
	const struct cst_trace *t;
	uint32_t thread;
	uint64_t number;
	int is_seed;
	uint64_t tick;
	uint32_t site;
	struct decoder decoder;
	struct unpacked block;
};

/* 1: the call is in this block. */
static int look_into(struct locate *l, uint32_t block, struct cst_error *err)
{
	const struct pack_info *info = &l->t->blocks[block].info;
	int status = decoder_unpack(&l->decoder, l->t, block, &l->block, err);

	for (uint32_t i = 0; i < info->n_calls && status == 0; i++) {
		if (unpacked_number(&l->block, info, i) != l->number ||
		    unpacked_thread(&l->block, info, i) != l->thread ||
		    l->block.calls[i].is_seed != l->is_seed)
			continue;
		l->tick = l->block.calls[i].start;
		l->site = l->block.calls[i].site;
		status = 1;
	}
	return status;
}

enum range { RANGE_BEFORE, RANGE_ACROSS, RANGE_MAYBE, RANGE_BEHIND };

/* Where the number is, seen from a block of this thread's calls.  A thread's
 * numbers grow along a lane, but for those of seeds. */
static enum range block_range(const struct locate *l,
			      const struct pack_info *info)
{
	if (info->flags & PACK_THREADS || info->n_seeds)
		return RANGE_MAYBE;
	if (l->is_seed || info->first_number > l->number)
		return RANGE_BEFORE;
	if (info->flags & PACK_NUMBERS)
		return RANGE_ACROSS;
	return l->number - info->first_number < info->n_calls ? RANGE_MAYBE
							      : RANGE_BEHIND;
}

static int look_along(struct locate *l, const struct trace_lane *lane,
		      struct cst_error *err)
{
	const uint32_t *blocks = l->t->lane_blocks + lane->blocks_at;
	uint32_t across = NO_BLOCK; /* the last one that begins before it */
	int status = 0;

	for (uint32_t i = 0; i < lane->n_blocks && status == 0; i++) {
		const struct pack_info *info = &l->t->blocks[blocks[i]].info;

		if (!(info->flags & PACK_THREADS) && info->thread != l->thread)
			continue;
		switch (block_range(l, info)) {
		case RANGE_ACROSS:
			across = blocks[i];
			break;
		case RANGE_MAYBE:
			status = look_into(l, blocks[i], err);
			break;
		case RANGE_BEHIND:
			across = NO_BLOCK;
			break;
		case RANGE_BEFORE:
			break;
		}
	}
	return status || across == NO_BLOCK ? status
					    : look_into(l, across, err);
}

int locate_call(const struct cst_trace *t, const struct callid *id,
		uint32_t thread, uint64_t *tick, uint32_t *site,
		struct cst_error *err)
{
	struct locate l = {.t = t,
			   .thread = thread,
			   .number = id->number,
			   .is_seed = id->is_seed};
	int status = 0;

	for (uint32_t i = 0; i < t->n_lanes && status == 0; i++)
		status = look_along(&l, &t->lanes[i], err);
	decoder_release(&l.decoder);
	unpacked_release(&l.block);
	if (status == 1) {
		*tick = l.tick;
		if (site)
			*site = l.site;
	}
	return status;
}

/* The thread's calls of a block that several threads made. */
static int64_t count_in(struct locate *l, uint32_t block, struct cst_error *err)
{
	const struct pack_info *info = &l->t->blocks[block].info;
	int64_t n = 0;
	int status = decoder_unpack(&l->decoder, l->t, block, &l->block, err);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i < info->n_calls; i++)
		n += l->block.threads[i] == l->thread &&
		     !l->block.calls[i].is_seed;
	return n;
}

int64_t locate_count(const struct cst_trace *t, uint32_t thread,
		     struct cst_error *err)
{
	struct locate l = {.t = t, .thread = thread};
	int64_t n = 0, more = 0;

	for (uint32_t i = 0; i < t->n_blocks && more >= 0; i++) {
		const struct pack_info *info = &t->blocks[i].info;

		if (info->flags & PACK_THREADS)
			more = count_in(&l, i, err);
		else if (info->thread == thread)
			more = (int64_t)info->n_calls - info->n_seeds;
		else
			more = 0;
		n += more;
	}
	decoder_release(&l.decoder);
	unpacked_release(&l.block);
	return more < 0 ? more : n;
}

int locate_id(const struct cst_trace *t, const char *text, uint32_t *site,
	      struct cst_error *err)
{
	struct callid id;
	uint32_t thread;
	uint64_t tick;
	int status = callid_parse(text, &id, err);

	if (status == 0)
		status = callid_thread(t, &id, &thread, err);
	if (status == 0)
		status = locate_call(t, &id, thread, &tick, site, err);
	if (status < 0)
		return status;
	return status ? 0
		      : cst_fail(CST_BAD_INPUT, err,
				 "no call %.60s in this trace", text);
}
