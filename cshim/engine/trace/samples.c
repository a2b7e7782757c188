/* SPDX-License-Identifier: MIT
 *
 * Reads the blocks of stacks and samples (docs/trace-format.md).
 */
#include "trace/samples.h"
#include "base/array.h"
#include "cstrace/engine.h"

#include <stdlib.h>

void samples_release(struct trace_samples *s)
{
	free(s->places);
	free(s->nodes);
	free(s->all);
	*s = (struct trace_samples){0};
}

static int take_place(struct trace_samples *s, struct cursor *c,
		      uint32_t n_functions)
{
	uint32_t number = (uint32_t)cursor_varint_max(c, UINT32_MAX - 1);
	struct sample_place place;

	place.function = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	place.addr = cursor_varint(c);
	if (c->failed || number != s->n_places || place.function >= n_functions)
		return CST_BAD_FILE;
	if (array_room(&s->places, &s->cap_places, s->n_places + 1ull) < 0)
		return CST_MEMORY;
	s->places[s->n_places++] = place;
	return 0;
}

static int take_node(struct trace_samples *s, struct cursor *c)
{
	uint32_t number = (uint32_t)cursor_varint_max(c, UINT32_MAX - 1);
	struct sample_node node;

	node.parent = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	node.place = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	if (!s->n_nodes)
		s->n_nodes = 1;
	if (c->failed || number != s->n_nodes || node.parent >= s->n_nodes ||
	    node.place >= s->n_places)
		return CST_BAD_FILE;
	if (array_room(&s->nodes, &s->cap_nodes, s->n_nodes + 1ull) < 0)
		return CST_MEMORY;
	s->nodes[s->n_nodes++] = node;
	return 0;
}

int samples_read_stacks(struct trace_samples *s, struct cursor *c,
			uint32_t n_functions)
{
	while (c->p < c->end) {
		uint8_t what = cursor_byte(c);
		int status = what == 1	 ? take_place(s, c, n_functions)
			     : what == 2 ? take_node(s, c)
					 : CST_BAD_FILE;

		if (status < 0)
			return status;
	}
	return 0;
}

static int take_rate(struct trace_samples *s, struct cursor *c)
{
	s->hz = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	s->clock = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	s->source = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	return c->failed ? CST_BAD_FILE : 0;
}

static int take_sample(struct trace_samples *s, struct cursor *c,
		       uint32_t n_threads, uint64_t *tick)
{
	struct trace_sample sample;
	uint64_t step, weight;

	sample.thread = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	step = cursor_varint(c);
	*tick += step >> 1 ^ (step & 1 ? UINT64_MAX : 0);
	sample.tick = *tick;
	sample.node = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	weight = cursor_varint_max(c, UINT32_MAX);
	sample.weight = (uint32_t)(weight >> 1);
	sample.is_cut = weight & 1;
	if (c->failed || sample.thread >= n_threads ||
	    (sample.node && sample.node >= s->n_nodes))
		return CST_BAD_FILE;
	if (array_room(&s->all, &s->cap, s->n + 1ull) < 0)
		return CST_MEMORY;
	s->all[s->n++] = sample;
	s->weight += sample.weight;
	if (sample.tick > s->last_tick)
		s->last_tick = sample.tick;
	return 0;
}

int samples_read(struct trace_samples *s, struct cursor *c, uint32_t n_threads)
{
	uint64_t tick = 0;

	while (c->p < c->end) {
		uint8_t what = cursor_byte(c);
		int status = 0;

		if (what == 1)
			status = take_rate(s, c);
		else if (what == 2)
			status = take_sample(s, c, n_threads, &tick);
		else if (what == 3)
			s->n_lost = cursor_varint(c);
		else
			status = CST_BAD_FILE;
		if (status < 0)
			return status;
		if (c->failed)
			return CST_BAD_FILE;
	}
	return 0;
}
