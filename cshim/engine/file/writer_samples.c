/* SPDX-License-Identifier: MIT
 *
 * The writer's blocks of stacks and samples.  Stacks go out before the samples
 * that name them, and functions before the stacks.
 */
#include "file/writer_samples.h"
#include "file/writer_parts.h"

enum {
	RECORD_RATE = 1,
	RECORD_SAMPLE = 2,
	RECORD_LOST = 3,
	RECORD_PLACE = 1,
	RECORD_NODE = 2,
};

void writer_sampling(struct writer *w, const struct writer_sampling *s)
{
	bytes_put_byte(&w->samples, RECORD_RATE);
	bytes_put_varint(&w->samples, s->hz);
	bytes_put_varint(&w->samples, s->clock);
	bytes_put_varint(&w->samples, s->source);
	w->is_changed = 1;
}

void writer_place(struct writer *w, uint32_t place, uint32_t function,
		  uint64_t addr)
{
	bytes_put_byte(&w->stacks, RECORD_PLACE);
	bytes_put_varint(&w->stacks, place);
	bytes_put_varint(&w->stacks, function);
	bytes_put_varint(&w->stacks, addr);
}

void writer_node(struct writer *w, uint32_t node, uint32_t parent,
		 uint32_t place)
{
	bytes_put_byte(&w->stacks, RECORD_NODE);
	bytes_put_varint(&w->stacks, node);
	bytes_put_varint(&w->stacks, parent);
	bytes_put_varint(&w->stacks, place);
}

/* Samples of several threads are not in order of time. */
static uint64_t zigzag(uint64_t step)
{
	return step << 1 ^ (step >> 63 ? UINT64_MAX : 0);
}

void writer_sample(struct writer *w, const struct writer_sample *s)
{
	if (w->is_full) {
		w->n_samples_lost += s->weight;
		return;
	}
	bytes_put_byte(&w->samples, RECORD_SAMPLE);
	bytes_put_varint(&w->samples, s->thread);
	bytes_put_varint(&w->samples, zigzag(s->tick - w->sampled_tick));
	bytes_put_varint(&w->samples, s->node);
	bytes_put_varint(&w->samples, (uint64_t)s->weight << 1 | s->is_cut);
	w->sampled_tick = s->tick;
	w->is_changed = 1;
	if (w->samples.len >= WRITER_PLAIN_SIZE)
		writer_put_samples(w);
}

void writer_samples_lost(struct writer *w, uint64_t n)
{
	bytes_put_byte(&w->samples, RECORD_LOST);
	bytes_put_varint(&w->samples, n);
	w->is_changed = 1;
}

void writer_put_samples(struct writer *w)
{
	if (!w->samples.len && !w->stacks.len)
		return;
	writer_put_people(w);
	writer_put_plain(w, BLOCK_STACKS, &w->stacks, 1);
	writer_put_plain(w, BLOCK_SAMPLES, &w->samples, 1);
	w->sampled_tick = 0; /* each block counts from 0 */
}
