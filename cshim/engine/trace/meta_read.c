/* SPDX-License-Identifier: MIT
 *
 * What the blocks beside the calls hold: meta, names, threads, pauses, end.
 */
#include "base/arena.h"
#include "file/block.h"
#include "base/array.h"
#include "trace/loader.h"
#include "trace/meta_read.h"

#include <stdio.h>
#include <stdlib.h>

/* A text of the trace's own arena: "" for none. */
static const char *take_text(struct cst_trace *t, struct cursor *c)
{
	size_t len;
	const char *text = cursor_text(c, &len);
	const char *copy = arena_intern(t->names->arena, text ? text : "", len);

	return copy ? copy : "";
}

static int take_meta(struct cst_trace *t, struct cursor *c)
{
	t->version = take_text(t, c);
	t->host = take_text(t, c);
	t->command = take_text(t, c);
	t->module = take_text(t, c);
	t->start_ticks = cursor_varint(c);
	t->start_wall_ns = cursor_varint(c);
	t->ns_mult = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	t->ns_shift = (uint32_t)cursor_varint_max(c, 63);
	t->end_ticks = t->start_ticks;
	if (c->p == c->end) /* it was all that was there once */
		return c->failed ? CST_BAD_FILE : 0;
	t->filter = take_text(t, c);
	t->depth = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	t->min_ns = cursor_varint(c);
	if (c->p == c->end) /* so it was once */
		return c->failed ? CST_BAD_FILE : 0;
	t->from = take_text(t, c);
	t->until = take_text(t, c);
	t->in_file = take_text(t, c);
	t->in_module = take_text(t, c);
	return c->failed ? CST_BAD_FILE : 0;
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static int take_function(struct cst_trace *t, struct cursor *c)
{
	uint32_t id = (uint32_t)cursor_varint_max(c, t->names->n_functions);
	uint64_t addr = cursor_varint(c);
	uint8_t flags = cursor_byte(c);
	const char *name = take_text(t, c), *symbol = take_text(t, c);
	const char *module = take_text(t, c), *file = take_text(t, c);
	struct function *f;

	if (c->failed)
		return CST_BAD_FILE;
	if (id == t->names->n_functions &&
	    names_add_function(t->names, addr) == UINT32_MAX)
		return CST_MEMORY;
	f = &t->names->functions[id];
	f->addr = addr;
	f->is_std = flags & 1;
	f->kind = flags >> 1;
	f->name = name;
	f->symbol = text_or_null(symbol);
	f->module = text_or_null(module);
	f->file = function_is_exception(f) ? NULL : text_or_null(file);
	f->message = function_is_exception(f) ? text_or_null(file) : NULL;
	f->is_border = !f->is_std && names_is_std(f);
	names_settle(t->names, id);
	return 0;
}

static int take_site(struct cst_trace *t, struct cursor *c)
{
	uint32_t id = (uint32_t)cursor_varint_max(c, t->names->n_sites);
	uint64_t function = cursor_varint_max(c, UINT32_MAX);
	uint64_t line = cursor_varint_max(c, UINT32_MAX);
	const char *file = take_text(t, c);
	struct call_site *s;

	if (c->failed || function >= t->names->n_functions)
		return CST_BAD_FILE;
	if (id == t->names->n_sites &&
	    names_add_site(t->names, (uint32_t)function) == UINT32_MAX)
		return CST_MEMORY;
	s = &t->names->sites[id];
	s->function = (uint32_t)function;
	s->line = (uint32_t)line;
	s->file = text_or_null(file);
	return 0;
}

static int take_values(struct cst_trace *t, struct cursor *c)
{
	uint64_t id = cursor_varint(c);
	const char *values = take_text(t, c);

	if (c->failed || id >= t->names->n_functions)
		return CST_BAD_FILE;
	t->names->functions[id].values = text_or_null(values);
	return 0;
}

static int take_function_place(struct cst_trace *t, struct cursor *c)
{
	uint64_t id = cursor_varint(c);
	uint32_t space = (uint32_t)cursor_varint_max(c, UINT32_MAX);

	if (c->failed || id >= t->names->n_functions)
		return CST_BAD_FILE;
	names_place_function(t->names, (uint32_t)id, space);
	return 0;
}

static int take_site_place(struct cst_trace *t, struct cursor *c)
{
	uint64_t id = cursor_varint(c);
	uint32_t space = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	uint64_t caller = cursor_varint(c), hook = cursor_varint(c);

	if (c->failed || id >= t->names->n_sites)
		return CST_BAD_FILE;
	names_place_site(t->names, (uint32_t)id, space, caller, hook);
	return 0;
}

static int take_sizes(struct cst_trace *t, struct cursor *c)
{
	while (c->p < c->end) {
		uint64_t id = cursor_varint(c), bytes = cursor_varint(c);

		if (c->failed || id >= t->names->n_functions)
			return CST_BAD_FILE;
		names_size_function(t->names, (uint32_t)id, bytes);
	}
	return 0;
}

static int take_tails(struct cst_trace *t, struct cursor *c)
{
	while (c->p < c->end) {
		uint64_t id = cursor_varint(c);

		if (c->failed || id >= t->names->n_sites)
			return CST_BAD_FILE;
		t->names->sites[id].is_tail = 1;
	}
	return 0;
}

static int take_thread(struct cst_trace *t, struct cursor *c)
{
	uint32_t index = (uint32_t)cursor_varint_max(c, t->n_threads);
	struct trace_thread thread = {0};

	thread.process = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	thread.pid = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	thread.ordinal = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	thread.tid = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	thread.name = take_text(t, c);
	if (c->failed)
		return CST_BAD_FILE;
	if (array_room(&t->threads, &t->cap_threads, t->n_threads + 1ull) < 0)
		return CST_MEMORY;
	t->threads[index] = thread;
	t->n_threads += index == t->n_threads;
	return 0;
}

static int take_lane(struct cst_trace *t, struct cursor *c)
{
	struct trace_lane lane = {.first_block = NO_BLOCK,
				  .last_block = NO_BLOCK};
	uint64_t index = cursor_varint(c);

	lane.process = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	lane.thread = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	lane.ordinal = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	if (c->failed || index != t->n_lanes || lane.thread >= t->n_threads)
		return CST_BAD_FILE;
	if (array_room(&t->lanes, &t->cap_lanes, t->n_lanes + 1ull) < 0)
		return CST_MEMORY;
	t->lanes[t->n_lanes++] = lane;
	return 0;
}

static int take_pauses(struct cst_trace *t, struct cursor *c)
{
	while (c->p < c->end) {
		struct trace_pause pause = {.at = cursor_varint(c)};

		pause.ticks = cursor_varint(c);
		if (c->failed)
			return CST_BAD_FILE;
		if (array_room(&t->pauses, &t->cap_pauses, t->n_pauses + 1ull) <
		    0)
			return CST_MEMORY;
		t->pauses[t->n_pauses++] = pause;
	}
	return 0;
}

static int take_ends(struct cst_trace *t, struct cursor *c)
{
	while (c->p < c->end) {
		struct trace_end end = {
			.process = (uint32_t)cursor_varint_max(c, UINT32_MAX)};

		end.ticks = cursor_varint(c);
		if (c->failed)
			return CST_BAD_FILE;
		if (array_room(&t->ends, &t->cap_ends, t->n_ends + 1ull) < 0)
			return CST_MEMORY;
		t->ends[t->n_ends++] = end;
	}
	return 0;
}

static int take_module(struct cst_trace *t, struct cursor *c)
{
	struct trace_module m = {0};

	m.space = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	m.path = take_text(t, c);
	m.build_id = take_text(t, c);
	m.start = cursor_varint(c);
	m.end = cursor_varint(c);
	m.bias = cursor_varint(c);
	if (c->failed)
		return CST_BAD_FILE;
	if (array_room(&t->modules, &t->cap_modules, t->n_modules + 1ull) < 0)
		return CST_MEMORY;
	t->modules[t->n_modules++] = m;
	return 0;
}

static void take_path(char *out, size_t size, struct cursor *c)
{
	size_t len;
	const char *text = cursor_text(c, &len);

	if (text)
		snprintf(out, size, "%.*s", (int)(len < size ? len : size),
			 text);
}

static void take_losses(struct cst_losses *l, struct cursor *c)
{
	l->n_full = cursor_varint(c);
	l->n_sites = cursor_varint(c);
	l->n_threads = cursor_varint(c);
	l->n_holes = cursor_varint(c);
	l->n_past_begin = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	l->n_past_all = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	l->n_past_sealed = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	if (c->p < c->end) { /* nor was this */
		l->n_past_exec = (uint32_t)cursor_varint_max(c, UINT32_MAX);
		take_path(l->past_exec, sizeof(l->past_exec), c);
	}
	if (c->p < c->end)
		l->n_ended = (uint32_t)cursor_varint_max(c, UINT32_MAX);
	if (c->p < c->end)
		l->n_dropped = cursor_varint(c);
}

static int take_end(struct cst_trace *t, struct cursor *c)
{
	t->end_ticks = cursor_varint(c);
	t->status.losses.n_limit = cursor_varint(c);
	t->status.losses.is_limit_reached = (uint32_t)cursor_varint_max(c, 1);
	if (c->p < c->end) /* older files lack it */
		take_losses(&t->status.losses, c);
	return c->failed ? CST_BAD_FILE : 0;
}

typedef int take_fn(struct cst_trace *t, struct cursor *c);

/* Takes records of up to three kinds; a byte before each says which. */
static int take_kinds(struct cst_trace *t, struct cursor *c, take_fn *first,
		      take_fn *second, take_fn *third)
{
	take_fn *const takes[] = {NULL, first, second, third};

	while (c->p < c->end) {
		uint8_t kind = cursor_byte(c);
		int status = kind > 3 || !takes[kind] ? CST_BAD_FILE
						      : takes[kind](t, c);

		if (status < 0)
			return status;
	}
	return 0;
}

int meta_read_block(struct cst_trace *t, uint32_t kind, struct cursor *raw)
{
	switch (kind) {
	case BLOCK_META:
		return take_meta(t, raw);
	case BLOCK_NAMES:
		return take_kinds(t, raw, take_function, take_site,
				  take_values);
	case BLOCK_PLACES:
		return take_kinds(t, raw, take_function_place, take_site_place,
				  NULL);
	case BLOCK_SIZES:
		return take_sizes(t, raw);
	case BLOCK_TAILS:
		return take_tails(t, raw);
	case BLOCK_THREADS:
		return take_kinds(t, raw, take_thread, take_lane, NULL);
	case BLOCK_PAUSES:
		return take_pauses(t, raw);
	case BLOCK_ENDS:
		return take_ends(t, raw);
	case BLOCK_MODULES:
		return take_kinds(t, raw, take_module, NULL, NULL);
	case BLOCK_STACKS:
		return samples_read_stacks(&t->samples, raw,
					   t->names->n_functions);
	case BLOCK_SAMPLES:
		return samples_read(&t->samples, raw, t->n_threads);
	case BLOCK_END:
		return take_end(t, raw);
	default:
		return 0; /* of a later cstrace; not needed to read the calls */
	}
}
