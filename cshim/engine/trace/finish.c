/* SPDX-License-Identifier: MIT
 *
 * Computes what is known of a trace only when all its blocks are.
 */
#include "trace/finish.h"
#include "base/search.h"
#include "trace/loader.h"

#include <stdlib.h>

static int late_compare(const void *a, const void *b)
{
	const struct trace_late *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

uint32_t loader_late(const struct cst_trace *t, uint32_t lane, uint64_t seq)
{
	const struct trace_late key = {.lane = lane, .seq = seq};

	return search_while(i, t->n_late, late_compare(&t->late[i], &key) < 0);
}

/* A trace without an END block ended with the last thing it tells. */
static void find_end(struct cst_trace *t)
{
	for (uint32_t i = 0; i < t->n_blocks; i++)
		if (t->blocks[i].info.last_tick > t->end_ticks)
			t->end_ticks = t->blocks[i].info.last_tick;
	if (t->samples.last_tick > t->end_ticks)
		t->end_ticks = t->samples.last_tick;
	for (uint32_t i = 0; i < t->n_late; i++)
		if (t->late[i].end_ticks > t->end_ticks)
			t->end_ticks = t->late[i].end_ticks;
}

/* The later of two of one process comes first. */
static int end_compare(const void *a, const void *b)
{
	const struct trace_end *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

static int process_compare(const void *a, const void *b)
{
	const struct trace_end *x = a, *y = b;

	return (x->process > y->process) - (x->process < y->process);
}

/* Each process has one by then. */
static void sort_ends(struct cst_trace *t)
{
	uint32_t n = 0;

	if (t->n_ends)
		qsort(t->ends, t->n_ends, sizeof(*t->ends), end_compare);
	for (uint32_t i = 0; i < t->n_ends; i++)
		if (!n || t->ends[n - 1].process != t->ends[i].process)
			t->ends[n++] = t->ends[i];
	t->n_ends = n;
}

static void find_ends(struct cst_trace *t)
{
	sort_ends(t);
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		const struct trace_thread *thread =
			&t->threads[t->lanes[i].thread];
		const struct trace_end key = {.process = thread->process};
		const struct trace_end *end =
			t->n_ends ? bsearch(&key, t->ends, t->n_ends,
					    sizeof(key), process_compare)
				  : NULL;

		t->lanes[i].end_ticks = end && end->ticks < t->end_ticks
						? end->ticks
						: t->end_ticks;
	}
}

static int sort_blocks(struct cst_trace *t)
{
	uint32_t at = 0;

	t->lane_blocks = malloc((t->n_blocks + 1) * sizeof(*t->lane_blocks));
	if (!t->lane_blocks)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		struct trace_lane *l = &t->lanes[i];

		l->blocks_at = at;
		for (uint32_t b = l->first_block; b != NO_BLOCK;
		     b = t->blocks[b].next)
			t->lane_blocks[at++] = b;
		l->n_blocks = at - l->blocks_at;
	}
	return 0;
}

static void fill_status(struct cst_trace *t)
{
	struct cst_status_report *s = &t->status;

	s->n_open -= t->n_late < s->n_open ? t->n_late : s->n_open;
	s->spool_bytes = t->size;
	s->duration_ns = trace_ns(t, t->end_ticks - t->start_ticks);
	s->n_threads = t->n_threads;
	s->n_samples = t->samples.weight;
	s->losses.n_samples = t->samples.n_lost;
	s->sample_hz = t->samples.hz;
	s->sample_clock = t->samples.clock;
	s->sample_source = t->samples.source;
	names_count_called(t->names, &s->n_functions, &s->n_sites);
}

static int number_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* An exec and a fork begin a process each; one may have made no call. */
static int count_processes(struct cst_trace *t)
{
	auto_free uint32_t *all =
		calloc(t->n_threads + (size_t)1, sizeof(*all));

	if (!all)
		return CST_MEMORY;
	for (uint32_t i = 0; i < t->n_threads; i++)
		all[i] = t->threads[i].process;
	qsort(all, t->n_threads, sizeof(*all), number_compare);
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->status.n_processes += !i || all[i] != all[i - 1];
	return 0;
}

int loader_settle(struct cst_trace *t, struct cst_error *err)
{
	if (t->n_late)
		qsort(t->late, t->n_late, sizeof(*t->late), late_compare);
	if (sort_blocks(t) < 0)
		return cst_fail_memory(err);
	find_end(t);
	find_ends(t);
	fill_status(t);
	if (count_processes(t) < 0)
		return cst_fail_memory(err);
	return 0;
}
