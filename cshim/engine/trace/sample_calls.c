/* SPDX-License-Identifier: MIT
 *
 * Makes calls of samples and writes them to a trace file without a name, which
 * is then read as any other.
 */
#include "trace/sample_calls.h"
#include "base/array.h"
#include "file/writer.h"
#include "file/writer_lanes.h"
#include "trace/trace.h"

#include <stdlib.h>

/* A frame of the stack that is open. */
struct open {
	uint64_t seq;
	uint32_t parent, function; /* the caller's node; what is called */
};

struct conversion {
	const struct cst_trace *t;
	struct names *names;
	struct writer *writer;
	struct lane *lane;
	struct open *stack;
	uint32_t *path; /* nodes, innermost first */
	uint32_t n_open, cap, cap_path;
	uint64_t number; /* of the thread's last call */
	uint64_t period; /* ticks */
	uint64_t end;	 /* tick of the thread's last sample */
	uint64_t is_begun;
};

int sample_calls_wanted(const struct cst_trace *t,
			const struct cst_choice *choice)
{
	return t->samples.n && ((choice && choice->samples) ||
				(!t->status.n_calls && !t->status.n_seeds));
}

/* ---- the calls ----------------------------------------------------------- */

static void leave(struct conversion *c, uint32_t depth, uint64_t tick)
{
	while (c->n_open > depth)
		lane_exit(c->lane, c->stack[--c->n_open].seq, tick,
			  CALL_RETURN);
}

/* Each function has one site, of its own number. */
static int enter(struct conversion *c, const struct open *call, uint32_t thread,
		 uint64_t tick)
{
	struct lane_entry entry = {
		.start = tick,
		.number = ++c->number,
		.above = c->n_open ? c->stack[c->n_open - 1].seq : NO_SEQ,
		.thread = thread,
	};

	if (array_room(&c->stack, &c->cap, c->n_open + 1ull) < 0)
		return CST_MEMORY;
	c->stack[c->n_open] = *call;
	if (!lane_is_plain(c->lane, entry.number, thread) &&
	    lane_prepare(c->lane, &entry) < 0)
		return CST_MEMORY;
	c->stack[c->n_open++].seq = lane_enter(c->lane, tick, call->function);
	return 0;
}

/* The sample's nodes, innermost first; returns how many. */
static uint32_t find_path(struct conversion *c, uint32_t node)
{
	const struct trace_samples *s = &c->t->samples;
	uint32_t n = 0;

	for (; node; node = s->nodes[node].parent) {
		if (array_room(&c->path, &c->cap_path, n + 1ull) < 0)
			return 0;
		c->path[n++] = node;
	}
	return n;
}

static int take_sample(struct conversion *c, const struct trace_sample *sample)
{
	const struct trace_samples *s = &c->t->samples;
	uint32_t n = find_path(c, sample->node), depth = 0;
	uint64_t ticks = sample->weight * c->period;
	uint64_t start = sample->tick > ticks + c->t->start_ticks
				 ? sample->tick - ticks
				 : c->t->start_ticks;

	/* What is less than half a period apart follows at once. */
	if (c->is_begun && start > c->end + c->period / 2)
		leave(c, 0, c->end);
	else if (c->is_begun)
		start = c->end;
	for (; depth < n && depth < c->n_open; depth++) {
		uint32_t node = c->path[n - 1 - depth];

		if (c->stack[depth].parent != s->nodes[node].parent ||
		    c->stack[depth].function != samples_function(s, node))
			break;
	}
	leave(c, depth, start);
	for (; depth < n; depth++) {
		uint32_t node = c->path[n - 1 - depth];
		struct open call = {.parent = s->nodes[node].parent,
				    .function = samples_function(s, node)};

		if (enter(c, &call, sample->thread, start) < 0)
			return CST_MEMORY;
	}
	c->is_begun = 1;
	c->end = sample->tick > start ? sample->tick : start;
	return 0;
}

/* ---- the threads --------------------------------------------------------- */

struct order {
	uint32_t thread, sample;
	uint64_t tick;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static int begin_thread(struct conversion *c, uint32_t thread)
{
	const struct trace_thread *h = &c->t->threads[thread];

	c->lane = writer_lane(c->writer, h->process, thread, 0);
	c->n_open = 0;
	c->number = 0;
	c->is_begun = 0;
	return c->lane ? 0 : CST_MEMORY;
}

static int take_all(struct conversion *c)
{
	const struct trace_samples *s = &c->t->samples;
	auto_free struct order *order = malloc(s->n * sizeof(*order));
	uint32_t thread = UINT32_MAX;

	if (!order)
		return CST_MEMORY;
	for (uint32_t i = 0; i < s->n; i++)
		order[i] = (struct order){s->all[i].thread, i, s->all[i].tick};
	qsort(order, s->n, sizeof(*order), order_compare);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_sample *sample = &s->all[order[i].sample];

		if (sample->thread != thread) {
			if (c->lane)
				leave(c, 0, c->end);
			thread = sample->thread;
			if (begin_thread(c, thread) < 0)
				return CST_MEMORY;
		}
		if (take_sample(c, sample) < 0)
			return CST_MEMORY;
	}
	leave(c, 0, c->end);
	return 0;
}

/* ---- the file ------------------------------------------------------------ */

static int copy_names(struct conversion *c)
{
	const struct names *from = c->t->names;

	c->names = names_new();
	for (uint32_t i = 0; c->names && i < from->n_functions; i++) {
		const struct function *f = &from->functions[i];
		uint32_t id = names_add_function(c->names, f->addr);

		if (id == UINT32_MAX ||
		    names_add_site(c->names, id) == UINT32_MAX)
			return CST_MEMORY;
		names_set_function(c->names, id, f->name, f->symbol, f->module,
				   f->file);
		names_size_function(c->names, id, f->size);
	}
	return c->names ? 0 : CST_MEMORY;
}

static int open_writer(struct conversion *c, struct cst_error *err)
{
	const struct cst_trace *t = c->t;
	const struct writer_options options = {
		.command = t->command,
		.module = t->module,
		.start_ticks = t->start_ticks,
		.start_wall_ns = t->start_wall_ns,
		.ns_mult = t->ns_mult,
		.ns_shift = t->ns_shift,
	};
	int status = writer_open(&options, c->names, &c->writer, err);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct trace_thread *h = &t->threads[i];

		if (writer_thread(c->writer, h->process, h->pid, h->ordinal,
				  h->tid, h->name) < 0)
			return cst_fail_memory(err);
	}
	for (uint32_t i = 0; i < t->n_pauses; i++)
		writer_pause(c->writer, t->pauses[i].at, t->pauses[i].ticks);
	writer_set_end(c->writer, t->end_ticks);
	return 0;
}

static int convert(struct conversion *c, struct cst_trace **out,
		   struct cst_error *err)
{
	uint64_t period_ns = samples_ns(&c->t->samples, 1);
	int status, fd = -1;

	c->period = c->t->ns_mult ? (uint64_t)(((unsigned __int128)period_ns
						<< c->t->ns_shift) /
					       c->t->ns_mult)
				  : 1;
	if (copy_names(c) < 0)
		return cst_fail_memory(err);
	status = open_writer(c, err);
	if (status == 0 && take_all(c) < 0)
		status = cst_fail_memory(err);
	if (c->writer && status < 0)
		writer_close(c->writer, NULL, NULL);
	else if (c->writer)
		status = writer_close(c->writer, &fd, err);
	return status < 0 ? status : trace_open(fd, c->t->path, out, err);
}

struct cst_trace *sample_calls_of(struct cst_trace *t, struct cst_error *err)
{
	struct conversion c = {.t = t};

	if (!t->as_calls && convert(&c, &t->as_calls, err) < 0)
		t->as_calls = NULL;
	free(c.stack);
	free(c.path);
	names_free(c.names);
	return t->as_calls;
}
