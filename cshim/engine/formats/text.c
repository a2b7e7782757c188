/* SPDX-License-Identifier: MIT
 *
 * From visible calls to rows.  What follows the function's name is formatted
 * once for each site and copied for each call.
 */
#include "formats/text.h"
#include "base/array.h"
#include "base/hashmap.h"
#include "formats/exporter.h"
#include "rows/fold.h"
#include "rows/row.h"
#include "rows/wall.h"
#include "trace/locate.h"

#include <stdlib.h>

enum { FAR_MAX = 1 << 20 };

/* A site's suffix in the bytes of them all; size 0: not formatted yet. */
struct suffix {
	uint32_t at, size;
};

struct text {
	const struct cst_trace *t;
	const struct cst_look *look;
	struct suffix *suffixes;
	/* The suffixes of rows that show another site's file and line. */
	struct suffix *far_suffixes;
	struct hashmap far; /* by both: its index */
	uint32_t cap_far;
	struct bytes suffix_text;
	struct wall wall;
	struct row_cell cell;
	uint8_t *is_noted; /* by thread: its tag was explained */
	int has_stop_note;
	uint32_t one_thread; /* rows are of this thread so far */
	uint8_t is_mixed;    /* they are of others, too, which is noted */
	int64_t n_rows, n_notes;
	uint8_t needs_rows; /* no heading without any */
	struct fold *fold;  /* NULL: rows are not folded */
	struct bytes *out;  /* where folded rows go */
};

/* ---- one row ------------------------------------------------------------ */

static inline void row_fill(const struct text *x, const struct shown *s,
			    struct row *row)
{
	const struct trace_thread *thread = &x->t->threads[s->thread];

	*row = (struct row){
		.kind = s->end == CALL_OPEN ? ROW_OPEN : ROW_CALL,
		.is_unwound = s->end == CALL_UNWOUND,
		.is_estimated = s->end == CALL_ESTIMATED,
		.is_vetoed = shown_is_vetoed(x->t, s),
		.values = s->values,
		.is_seed = s->is_seed,
		.is_stopped = shown_is_stopped(s),
		.depth = s->depth,
		.time_ns = s->start_ns,
		.duration_ns = s->duration_ns,
		.names = x->t->names,
		.site = s->site,
		.from = s->from,
	};
	if (x->look->timestamp == CST_TIME_WALL)
		row->time_ns = wall_ns(&x->wall, s->start_ns);
	row->process = thread->process;
	row->thread = thread->ordinal;
	row->number = s->number;
	row->cell = x->cell;
	row->thread_color = s->thread;
}

/* NULL: it is formatted each time. */
static struct suffix *far_suffix(struct text *x, const struct row *row)
{
	uint64_t key = (uint64_t)(row->site + 1) << 32 | row->from;
	uint32_t *known = hashmap_get(&x->far, key), n = x->far.n;

	if (known)
		return &x->far_suffixes[*known];
	if (n == FAR_MAX ||
	    array_room(&x->far_suffixes, &x->cap_far, n + 1ull) < 0 ||
	    hashmap_put(&x->far, key, n) < 0)
		return NULL;
	x->far_suffixes[n] = (struct suffix){0};
	return &x->far_suffixes[n];
}

static const struct suffix *suffix_of(struct text *x, const struct row *row)
{
	struct suffix *s = row->from == row->site ? &x->suffixes[row->site]
						  : far_suffix(x, row);
	uint8_t *out;

	if (!s || s->size)
		return s;
	out = bytes_reserve(&x->suffix_text, ROW_SUFFIX_MAX);
	/* 4 GiB of names: the rest is formatted each time. */
	if (!out || x->suffix_text.len > UINT32_MAX - ROW_SUFFIX_MAX)
		return NULL;
	s->at = (uint32_t)x->suffix_text.len;
	s->size = (uint32_t)(row_put_suffix(row, x->look, (char *)out) -
			     (char *)out);
	x->suffix_text.len += s->size;
	return s;
}

static uint64_t put_note(struct text *x, uint32_t thread, char *out)
{
	const struct trace_thread *t = &x->t->threads[thread];

	x->is_noted[thread] = 1;
	return row_note(t->process, t->ordinal, t->name, t->tid, x->look, out);
}

/* Nothing tells the threads apart, and this row is the first of a second one.
 */
static int is_first_mixed(const struct text *x, const struct shown *s)
{
	return !x->is_mixed && x->n_rows && s->thread != x->one_thread;
}

/* What a row has that was not explained yet. */
static int put_notes(struct text *x, const struct shown *s, struct bytes *out)
{
	char *p = (char *)bytes_reserve(out, 2 * ROW_MAX), *begin = p;

	if (!p)
		return CST_MEMORY;
	if (x->cell.has_threads && !x->is_noted[s->thread])
		p += put_note(x, s->thread, p);
	if (is_first_mixed(x, s)) {
		p += row_mixed_note(p);
		x->is_mixed = 1;
	}
	if (shown_is_stopped(s) && x->look->duration && !x->has_stop_note)
		p += row_stop_note(p);
	x->has_stop_note |= shown_is_stopped(s);
	out->len += (size_t)(p - begin);
	return 0;
}

/* folded is NULL for a call by itself. */
static int put_row(struct text *x, const struct shown *s,
		   const struct folded *folded, struct bytes *out)
{
	const struct suffix *suffix;
	struct row row;
	char *begin, *p;
	int is_alone = s->end == CALL_UNWOUND || s->values || s->is_marked;

	if (((x->cell.has_threads && !x->is_noted[s->thread]) ||
	     shown_is_stopped(s) || is_first_mixed(x, s)) &&
	    put_notes(x, s, out) < 0)
		return CST_MEMORY;
	begin = p = (char *)bytes_reserve(out, ROW_MAX);
	if (!begin)
		return CST_MEMORY;
	row_fill(x, s, &row);
	if (folded) {
		row.n_folded = folded->n_calls;
		row.first_line = folded->first_line;
		row.last_line = folded->last_line;
		row.has_other_values = folded->has_other_values;
		row.n_levels = folded->n_levels;
		row.n_loop = folded->n_loop;
		is_alone |=
			row.n_folded > 1 || row.n_loop || row.has_other_values;
	}
	suffix = is_alone || x->look->width ? NULL : suffix_of(x, &row);
	if (suffix) {
		p = row_put_prefix(&row, x->look, p);
		memcpy(p, x->suffix_text.data + suffix->at, suffix->size);
		p += suffix->size;
	} else {
		p += row_format(&row, x->look, p);
	}
	out->len += (size_t)(p - begin);
	x->one_thread = s->thread;
	x->n_rows++;
	x->n_notes += s->is_note;
	return 0;
}

/* ---- folding ------------------------------------------------------------ */

static int put_folded(void *arg, const struct folded *folded)
{
	struct text *x = arg;

	return put_row(x, &folded->call, folded, x->out);
}

/* call is NULL at the end. */
static int fold(struct text *x, const struct shown *call, struct bytes *out)
{
	x->out = out;
	return call ? fold_add(x->fold, call, 0) : fold_end(x->fold);
}

static int fold_init(struct text *x, const struct cst_choice *choice,
		     struct cst_error *err)
{
	struct callid id;
	uint32_t thread, site;
	int status;

	/* What was asked for by its values has them in its row. */
	if ((!x->look->fold || choice->where) && !choice->unfold)
		return 0;
	x->fold = fold_new(x->t->names, put_folded, x);
	if (!x->fold)
		return cst_fail_memory(err);
	if (!choice->unfold)
		return 0;
	status = locate_id(x->t, choice->unfold, &site, err);
	if (status == 0)
		status = callid_parse(choice->unfold, &id, err);
	if (status == 0)
		status = callid_thread(x->t, &id, &thread, err);
	if (status == 0)
		fold_only(x->fold, thread, &id);
	return status;
}

/* ---- the whole ---------------------------------------------------------- */

static int put_call(void *arg, struct shown *s, struct bytes *out)
{
	struct text *x = arg;

	return x->fold ? fold(x, s, out) : put_row(x, s, NULL, out);
}

static void put_heading(void *arg, struct bytes *out)
{
	struct text *x = arg;
	char *p = (char *)bytes_reserve(out, ROW_MAX);

	if (p)
		out->len += row_heading(x->look, &x->cell, x->fold != NULL, p);
}

static int put_end(void *arg, struct bytes *out)
{
	struct text *x = arg;

	if (x->fold && fold(x, NULL, out) < 0)
		return CST_MEMORY;
	if (x->needs_rows && !x->n_rows)
		out->len = 0; /* the heading */
	return 0;
}

static const struct exporter text = {
	.has_window = 1,
	.begin = put_heading,
	.call = put_call,
	.end = put_end,
};

static int text_init(struct text *x, const struct cst_choice *choice,
		     struct cst_error *err)
{
	const struct cst_trace *t = x->t;

	x->suffixes = calloc(t->names->n_sites + 1, sizeof(*x->suffixes));
	x->is_noted = calloc(t->n_threads + (size_t)1, 1);
	if (!x->suffixes || !x->is_noted || wall_init(&x->wall, t) < 0)
		return cst_fail_memory(err);
	x->cell = row_cell_of(t, x->look);
	x->is_mixed = x->look->thread || x->look->id;
	return fold_init(x, choice, err);
}

int64_t text_write(const struct cst_trace *t, const struct cst_look *look,
		   const struct cst_choice *choice, int needs_rows,
		   cst_write_fn write, void *arg, struct cst_error *err)
{
	const struct cst_look fitting = row_look(look);
	auto_free struct text *x = calloc(1, sizeof(*x));
	int64_t status;

	if (!x)
		return cst_fail_memory(err);
	x->t = t;
	x->look = &fitting;
	x->needs_rows = needs_rows != 0;
	status = text_init(x, choice, err);
	if (status == 0)
		status = exporter_run(&text, x, t, choice, write, arg, err);
	if (status >= 0)
		status = x->n_rows > x->n_notes ? x->n_rows - x->n_notes
						: x->n_rows;
	fold_free(x->fold);
	free(x->suffixes);
	free(x->far_suffixes);
	hashmap_release(&x->far);
	wall_release(&x->wall);
	free(x->is_noted);
	bytes_release(&x->suffix_text);
	return status;
}
