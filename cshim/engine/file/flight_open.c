/* SPDX-License-Identifier: MIT
 *
 * Keeps the calls of dropped blocks that have not ended, lane by lane, writes
 * them as the first blocks of a saved file, and renumbers the blocks behind
 * them.
 */
#include "file/flight_open.h"
#include "base/array.h"
#include "base/search.h"
#include "file/pack.h"
#include "file/unpack.h"
#include "names/values.h"

#include <stdlib.h>
#include <string.h>

/* A call that was open when its block was dropped. */
struct open {
	uint64_t seq, start, number;
	uint32_t site, thread, depth;
	uint8_t is_seed;
	const struct values *values; /* or NULL */
};

struct carried {
	struct open *open; /* the outermost first */
	uint32_t n, cap;
	uint64_t first; /* seq of the first call that stays */
};

struct flight_open {
	struct carried *lanes;
	uint32_t n_lanes;
	struct unpacker unpacker;
	struct packed_call *calls;
	uint64_t *numbers;
	uint32_t *threads;
	struct block_values values;
};

struct flight_open *flight_open_new(void)
{
	struct flight_open *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->calls = malloc(PACK_CALLS_MAX * sizeof(*c->calls));
	c->numbers = malloc(PACK_CALLS_MAX * sizeof(*c->numbers));
	c->threads = malloc(PACK_CALLS_MAX * sizeof(*c->threads));
	if (c->calls && c->numbers && c->threads)
		return c;
	flight_open_free(c);
	return NULL;
}

void flight_open_free(struct flight_open *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_lanes; i++) {
		while (c->lanes[i].n)
			values_drop(c->lanes[i].open[--c->lanes[i].n].values);
		free(c->lanes[i].open);
	}
	free(c->lanes);
	unpacker_release(&c->unpacker);
	free(c->calls);
	free(c->numbers);
	free(c->threads);
	block_values_release(&c->values);
	free(c);
}

/* ---- dropping -------------------------------------------------------------
 */

/* NULL: out of memory. */
static struct carried *lane_of(struct flight_open *c, uint32_t lane)
{
	if (array_room(&c->lanes, &c->n_lanes, lane + 1ull) < 0)
		return NULL;
	return &c->lanes[lane];
}

/* Where seq stands, or n: it is not open. */
static uint32_t find(const struct carried *l, uint64_t seq)
{
	uint32_t at = search_while(i, l->n, l->open[i].seq < seq);

	return at < l->n && l->open[at].seq == seq ? at : l->n;
}

static void close_late(struct carried *l, uint64_t seq)
{
	uint32_t i = find(l, seq);

	if (i == l->n)
		return;
	values_drop(l->open[i].values);
	l->n--;
	memmove(&l->open[i], &l->open[i + 1], (l->n - i) * sizeof(*l->open));
}

static int push(struct carried *l, const struct open *o)
{
	/* What was left open beside this one never ends. */
	while (l->n && l->open[l->n - 1].depth >= o->depth)
		values_drop(l->open[--l->n].values);
	if (array_room(&l->open, &l->cap, l->n + 1ull) < 0)
		return CST_MEMORY;
	l->open[l->n++] = *o;
	return 0;
}

static const struct values *values_of(const struct flight_open *c, uint32_t i)
{
	const struct valued *v;

	if (!c->calls[i].has_values)
		return NULL;
	v = block_values_of(&c->values, i);
	return values_new(c->values.bytes.data + v->at, v->n, NULL, 0);
}

static int push_open(struct flight_open *c, struct carried *l,
		     const struct pack_info *info)
{
	for (uint32_t i = 0; i < info->n_calls; i++) {
		const struct packed_call *call = &c->calls[i];
		struct open o = {
			.seq = info->first_seq + i,
			.start = call->start,
			.number = info->flags & PACK_NUMBERS
					  ? c->numbers[i]
					  : info->first_number + i,
			.thread = info->flags & PACK_THREADS ? c->threads[i]
							     : info->thread,
			.site = call->site,
			.depth = call->depth,
			.is_seed = call->is_seed,
		};

		if (call->end != CALL_OPEN)
			continue;
		o.values = values_of(c, i);
		if (push(l, &o) < 0) {
			values_drop(o.values);
			return CST_MEMORY;
		}
	}
	return 0;
}

int flight_open_take(struct flight_open *c, const uint8_t *info,
		     size_t info_size, const uint8_t *data, size_t data_size)
{
	struct cursor at = {info, info + info_size, 0};
	struct pack_info i;
	struct carried *l;
	int status;

	if (pack_info_get(&at, &i) < 0)
		return CST_BAD_FILE;
	l = lane_of(c, i.lane);
	if (!l)
		return CST_MEMORY;
	for (uint32_t k = 0; k < i.n_late; k++) {
		struct late_end late;

		if (pack_late_get(&at, &late) < 0)
			return CST_BAD_FILE;
		close_late(l, i.first_seq - late.seq);
	}
	l->first = i.first_seq + i.n_calls;
	if (!i.n_calls)
		return 0;
	status = unpacker_unpack(&c->unpacker, &i, data, data_size, c->calls,
				 c->numbers, c->threads, &c->values);
	return status < 0 ? status : push_open(c, l, &i);
}

/* ---- saving ---------------------------------------------------------------
 */

static int put_block(struct packer *p, struct lane *l, struct spool *s)
{
	struct bytes info = {0}, data = {0};
	int status = packer_pack(p, l, &info, &data);

	if (status == 0)
		spool_put(s, BLOCK_CALLS, &info, &data);
	bytes_release(&info);
	bytes_release(&data);
	lane_begin_block(l);
	return status;
}

static int put_open(struct packer *p, struct lane *l, const struct carried *c,
		    struct spool *s)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct open *o = &c->open[i];
		struct lane_entry e = {
			.start = o->start,
			.number = o->number,
			.above = i ? i - 1 : NO_SEQ,
			.thread = o->thread,
			.is_seed = o->is_seed,
		};

		if (l->n == l->cap && put_block(p, l, s) < 0)
			return CST_MEMORY;
		lane_note(l, &e);
		lane_add_values(l, lane_enter(l, o->start, o->site),
				o->values ? o->values->data : NULL,
				o->values ? o->values->n : 0, 0);
	}
	return put_block(p, l, s);
}

static int put_lane(const struct flight_open *c, uint32_t lane,
		    struct packer *p, struct spool *s)
{
	const struct carried *from = &c->lanes[lane];
	struct lane l = {.index = lane, .tail_seq = NO_SEQ};
	int status;

	lane_begin_block(&l);
	status = lane_resize(&l, from->n < CALLS_PER_BLOCK ? from->n
							   : CALLS_PER_BLOCK);
	if (status == 0)
		status = put_open(p, &l, from, s);
	lane_release(&l);
	return status;
}

int flight_open_put(const struct flight_open *c, struct spool *s)
{
	struct packer *p = packer_new();
	int status = p ? 0 : CST_MEMORY;

	for (uint32_t i = 0; status == 0 && i < c->n_lanes; i++)
		if (c->lanes[i].n)
			status = put_lane(c, i, p, s);
	packer_free(p);
	return status;
}

/* The new seq; UINT64_MAX: it was dropped. */
static uint64_t new_seq(const struct carried *l, uint64_t seq)
{
	uint32_t i;

	if (seq >= l->first)
		return seq - l->first + l->n;
	i = find(l, seq);
	return i < l->n ? i : UINT64_MAX;
}

/* The late ends that are of calls which are there. */
static uint32_t put_late(const struct carried *l, const struct pack_info *old,
			 uint64_t first_seq, struct cursor *at,
			 struct bytes *out)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < old->n_late; k++) {
		struct late_end late;
		uint64_t seq;

		if (pack_late_get(at, &late) < 0)
			return n;
		seq = new_seq(l, old->first_seq - late.seq);
		if (seq == UINT64_MAX)
			continue;
		late.seq = first_seq - seq;
		pack_late_put(&late, out);
		n++;
	}
	return n;
}

int flight_open_renumber(const struct flight_open *c, const uint8_t *info,
			 size_t size, struct bytes *out)
{
	static const struct carried nothing;
	struct cursor at = {info, info + size, 0};
	struct bytes late = {0};
	struct pack_info i, old;
	const struct carried *l;

	if (pack_info_get(&at, &i) < 0)
		return CST_BAD_FILE;
	l = i.lane < c->n_lanes ? &c->lanes[i.lane] : &nothing;
	old = i;
	i.first_seq = new_seq(l, old.first_seq);
	/* A seq + 1; 0 is none, and so is UINT64_MAX + 1. */
	i.parent = old.parent ? new_seq(l, old.parent - 1) + 1 : 0;
	i.n_late = put_late(l, &old, i.first_seq, &at, &late);
	pack_info_put(&i, out);
	bytes_put(out, late.data, late.len);
	out->failed |= late.failed;
	bytes_release(&late);
	return out->failed ? CST_MEMORY : 0;
}
