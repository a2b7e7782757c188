/* SPDX-License-Identifier: MIT
 *
 * Manages the memory of a lane's block and what is special about its calls:
 * other numbers or threads, seeds, unwound calls, and ends that come late.
 */
#include "file/lane_block.h"
#include "base/array.h"
#include "file/pack.h"

#include <assert.h>
#include <stdlib.h>

/* How many bytes a number of each column may have above its lowest. */
static const uint8_t n_more[LANE_COLUMNS] = {3, 3, 7, 7, 7, 3};

/* ... and each of the columns of sizes. */
enum { SIZE_MORE = 3 };

/* No number less this is an index: calls are not numbered that high. */
#define NO_BASE (UINT64_MAX / 2)

static size_t memory_size(uint32_t cap)
{
	size_t size = cap; /* marks */

	for (int i = 0; i < LANE_COLUMNS; i++)
		size += COLUMN_SIZE(cap, n_more[i]);
	return size;
}

/* Without memory it is not known what unwound the calls, that is all. */
static void resize_thrown(struct lane *l, uint32_t cap)
{
	uint32_t *all = l->thrown ? calloc(cap, sizeof(*all)) : NULL;

	if (all)
		memcpy(all, l->thrown, l->n * sizeof(*all));
	free(l->thrown);
	l->thrown = all;
}

/* Lays out the columns of the values' sizes anew, for so many calls.  Those of
 * the block under way stay. */
static int resize_sizes(struct lane *l, uint32_t cap)
{
	uint8_t *memory = calloc(2, COLUMN_SIZE(cap, SIZE_MORE)), *p = memory;
	struct column sizes = l->sizes, results = l->result_sizes;

	if (!memory)
		return CST_MEMORY;
	p = column_init(&l->sizes, p, cap, SIZE_MORE);
	column_init(&l->result_sizes, p, cap, SIZE_MORE);
	if (l->size_memory) {
		column_move(&l->sizes, &sizes, l->n);
		column_move(&l->result_sizes, &results, l->n_ends);
	}
	free(l->size_memory);
	l->size_memory = memory;
	return 0;
}

int lane_resize(struct lane *l, uint32_t cap)
{
	uint8_t *memory = malloc(memory_size(cap)), *p = memory;

	assert(cap >= l->n && l->n_ends <= l->n);
	if (!memory || (l->size_memory && resize_sizes(l, cap) < 0)) {
		free(memory);
		return CST_MEMORY;
	}
	for (int i = 0; i < LANE_COLUMNS; i++) {
		struct column old = l->columns[i];

		p = column_init(&l->columns[i], p, cap, n_more[i]);
		if (l->n)
			column_move(&l->columns[i], &old,
				    i == LANE_ENDS ? l->n_ends : l->n);
	}
	memset(p, 0, cap);
	if (l->n)
		memcpy(p, l->marks, l->n);
	free(l->memory);
	resize_thrown(l, cap);
	l->memory = memory;
	l->marks = p;
	l->cap = cap;
	return 0;
}

void lane_shrink(struct lane *l)
{
	free(l->memory);
	free(l->thrown);
	free(l->size_memory);
	bytes_release(&l->value_bytes);
	bytes_release(&l->result_bytes);
	l->memory = NULL;
	l->thrown = NULL;
	l->size_memory = NULL;
	l->cap = 0;
}

void lane_release(struct lane *l)
{
	lane_shrink(l);
	free(l->late);
	bytes_release(&l->late_bytes);
}

/* ---- entries that are not plain ----------------------------------------- */

static void note_first(struct lane *l, const struct lane_entry *e)
{
	l->first_tick = l->tick = e->start;
	l->first_number = e->number;
	l->first_thread = l->thread = e->thread;
	l->number_base = e->number;
	l->depth = l->n_open_before;
	l->parent = e->above == NO_SEQ ? 0 : e->above + 1;
}

/* Up to here the numbers were what the block's info tells. */
static void begin_numbers(struct lane *l)
{
	l->flags |= PACK_NUMBERS;
	l->last_number = l->number_base + l->n - 1;
	l->number_base = NO_BASE;
	memset(l->columns[LANE_NUMBERS].low, 0, l->n);
}

static void begin_threads(struct lane *l)
{
	l->flags |= PACK_THREADS;
	l->thread = UINT32_MAX;
	for (uint32_t i = 0; i < l->n; i++)
		column_add(&l->columns[LANE_THREADS], i, l->first_thread);
}

void lane_note(struct lane *l, const struct lane_entry *e)
{
	uint32_t n = l->n;

	if (n == 0)
		note_first(l, e);
	if (!(l->flags & PACK_NUMBERS) && e->number - l->number_base != n)
		begin_numbers(l);
	if (!(l->flags & PACK_THREADS) && e->thread != l->thread)
		begin_threads(l);
	if (l->flags & PACK_NUMBERS) {
		column_add(&l->columns[LANE_NUMBERS], n,
			   e->number - l->last_number - 1);
		l->last_number = e->number;
	}
	if (l->flags & PACK_THREADS)
		column_add(&l->columns[LANE_THREADS], n, e->thread);
	if (e->is_seed) {
		l->marks[n] |= PACK_SEED;
		l->has_marks = 1;
	}
}

/* ---- exits --------------------------------------------------------------- */

void lane_mark_end(struct lane *l, uint64_t seq, enum call_end end)
{
	l->marks[seq - l->first] |=
		end == CALL_ESTIMATED ? PACK_ESTIMATED : PACK_UNWOUND;
	l->has_marks = 1;
}

void lane_mark_thrown(struct lane *l, uint64_t seq, uint32_t function)
{
	struct late_end *late = l->n_late ? &l->late[l->n_late - 1] : NULL;

	if (seq < l->first) {
		if (late && late->seq == seq)
			late->thrown = function + 1;
		return;
	}
	if (seq - l->first >= l->n)
		return; /* it was not kept */
	if (!l->thrown)
		l->thrown = calloc(l->cap, sizeof(*l->thrown));
	if (l->thrown)
		l->thrown[seq - l->first] = function + 1;
}

void lane_add_late(struct lane *l, const struct late_end *late)
{
	uint64_t next = l->first + l->n;

	if (l->tail_seq != next) {
		l->tail = l->n_ends - l->ends_before;
		l->tail_seq = next;
	}
	l->ends_before--;
	l->n_open_before--;
	if (array_room(&l->late, &l->cap_late, l->n_late + 1ull) == 0)
		l->late[l->n_late++] = *late;
}

/* ---- values -------------------------------------------------------------- */

static uint32_t keep_bytes(struct bytes *out, const void *data, uint32_t n)
{
	size_t at = out->len;

	bytes_put(out, data, n);
	return (uint32_t)at;
}

static void add_late_result(struct lane *l, uint64_t seq, const void *data,
			    uint32_t n)
{
	struct late_end *late = l->n_late ? &l->late[l->n_late - 1] : NULL;

	if (!late || late->seq != seq)
		return;
	late->result_at = keep_bytes(&l->late_bytes, data, n);
	late->n_result = l->late_bytes.failed ? 0 : n;
}

/* Notes n bytes of the last entry, or of the last end.  Returns 0 if that is
 * not the call's, or has some already. */
static int add_size(struct lane *l, uint64_t seq, uint32_t n, int is_result)
{
	struct column *c = is_result ? &l->result_sizes : &l->sizes;
	uint32_t of = is_result ? l->n_ends : l->n;

	if (!of || seq - l->first >= l->n ||
	    (!is_result && seq - l->first != of - 1) ||
	    (!l->size_memory && resize_sizes(l, l->cap) < 0) ||
	    c->low[of - 1] || c->codes[(of - 1) / 4] >> 2 * ((of - 1) & 3) & 3)
		return 0;
	column_add(c, of - 1, n);
	l->n_values++;
	return 1;
}

void lane_note_values(struct lane *l, uint64_t seq, size_t at, int is_result)
{
	struct bytes *b = lane_bytes(l, is_result);
	uint32_t n = (uint32_t)(b->len - at);

	if (!n || (!b->failed && add_size(l, seq, n, is_result)))
		return;
	if (is_result && seq < l->first)
		add_late_result(l, seq, b->data + at, n);
	b->len = at;
}

void lane_add_values(struct lane *l, uint64_t seq, const void *data, uint32_t n,
		     int is_result)
{
	struct bytes *b = lane_bytes(l, is_result);
	size_t at = b->len;

	if (!n)
		return;
	bytes_put(b, data, n);
	lane_note_values(l, seq, at, is_result);
}

const void *lane_values_of(const struct lane *l, uint64_t seq, uint32_t *n)
{
	uint64_t at, size;

	if (!l->n_values || seq - l->first >= l->n)
		return NULL;
	at = column_sum(&l->sizes, (uint32_t)(seq - l->first), &size);
	*n = (uint32_t)size;
	return size ? l->value_bytes.data + at : NULL;
}

/* ---- blocks -------------------------------------------------------------- */

uint32_t lane_tail(const struct lane *l)
{
	return l->tail_seq == l->first + l->n ? l->tail
					      : l->n_ends - l->ends_before;
}

static void clear_sizes(struct column *c, uint32_t n)
{
	memset(c->low, 0, n);
	column_clear(c, n);
}

void lane_begin_block(struct lane *l)
{
	for (int i = 0; l->n && i < LANE_COLUMNS; i++)
		column_clear(&l->columns[i], l->n);
	if (l->has_marks)
		memset(l->marks, 0, l->n);
	if (l->n_values) {
		clear_sizes(&l->sizes, l->n);
		clear_sizes(&l->result_sizes, l->n_ends);
	}
	free(l->thrown);
	l->thrown = NULL;
	l->first += l->n;
	l->n_open_before += l->n - l->n_ends;
	l->ends_before -= l->n_ends;
	l->n = l->n_ends = l->n_late = l->n_notes = l->n_values = 0;
	l->value_bytes.len = l->result_bytes.len = l->late_bytes.len = 0;
	l->number_base = NO_BASE;
	l->flags = l->has_marks = 0;
}
