/* SPDX-License-Identifier: MIT
 *
 * Unpacks the blocks that are new, lane after lane, from the last one back.
 */
#include "recorder/tally.h"
#include "base/array.h"
#include "trace/decode.h"

#include <stdlib.h>

struct counting {
	struct tally *y;
	const struct cst_trace *t;
	struct decoder decoder;
	struct unpacked block;
};

static int count_block(struct counting *c, uint32_t number, uint64_t next_seq,
		       struct cst_error *err)
{
	const struct pack_info *info = &c->t->blocks[number].info;
	uint32_t first = next_seq > info->first_seq
				 ? (uint32_t)(next_seq - info->first_seq)
				 : 0;
	int status = decoder_unpack(&c->decoder, c->t, number, &c->block, err);

	if (status < 0)
		return status;
	for (uint32_t i = first; i < info->n_calls; i++)
		if (!c->block.calls[i].is_seed)
			c->y->of_site[c->block.calls[i].site]++;
	return 0;
}

static int count_lane(struct counting *c, uint32_t number,
		      struct cst_error *err)
{
	const struct trace_lane *lane = &c->t->lanes[number];
	const uint32_t *blocks = c->t->lane_blocks + lane->blocks_at;
	uint64_t next = c->y->next_seqs[number];

	for (uint32_t i = lane->n_blocks; i-- > 0;) {
		const struct pack_info *info = &c->t->blocks[blocks[i]].info;
		uint64_t end = info->first_seq + info->n_calls;
		int status;

		if (end <= next)
			return 0;
		status = count_block(c, blocks[i], next, err);
		if (status < 0)
			return status;
		if (end > c->y->next_seqs[number])
			c->y->next_seqs[number] = end;
	}
	return 0;
}

int tally_add(struct tally *y, const struct cst_trace *t, struct cst_error *err)
{
	struct counting c = {.y = y, .t = t};
	int status = 0;

	if (array_room(&y->of_site, &y->cap_sites, t->names->n_sites + 1ull) <
		    0 ||
	    array_room(&y->next_seqs, &y->cap_lanes, t->n_lanes + 1ull) < 0)
		return cst_fail_memory(err);
	for (uint32_t i = 0; i < t->n_lanes && status == 0; i++)
		status = count_lane(&c, i, err);
	decoder_release(&c.decoder);
	unpacked_release(&c.block);
	return status;
}

void tally_release(struct tally *y)
{
	free(y->of_site);
	free(y->next_seqs);
	*y = (struct tally){0};
}
