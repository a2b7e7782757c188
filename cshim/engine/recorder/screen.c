/* SPDX-License-Identifier: MIT
 *
 * Writes the rows that wait in order, leaves out those that a slow outlet
 * cannot accept, and puts notes and callers in their place.
 */
#include "recorder/screen.h"
#include "base/array.h"
#include "area/clock.h"
#include "base/number.h"
#include "trace/callid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* The cell's width at first, and how much it grows: so seldom that
	 * the columns stay where they are. */
	CELL_WIDTH = 10,
	CELL_MORE = 3,
	TAG_WIDTH = 2,
	/* A terminal draws this many rows in a second at little cost to the
	 * program, which it shares the processors with; at once, if it has
	 * had none for a while, so many. */
	ROWS_A_SECOND = 1000,
	ROWS_AT_ONCE = 4000,
	/* At a stop at least, where there are more. */
	ROWS_AT_STOP = 500,
	/* New lines for counts that are written as soon as they grow. */
	NEW_COUNTS_A_SECOND = 3,
	/* How many callers are written again. */
	OUTER_CALLERS = 4,
	INNER_CALLERS = 12,
	PIECE = 4096,
};

/* What a thread's tag was last explained with. */
struct noted {
	uint32_t tid; /* 0: not yet */
	char name[16];
};

void screen_init(struct screen *s, const struct names *names)
{
	*s = (struct screen){.names = names, .credit = ROWS_AT_ONCE};
	outlet_init(&s->outlet);
}

static void rows_drop(struct screen_row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		values_drop(rows[i].values);
}

void screen_release(struct screen *s)
{
	rows_drop(s->rows, s->n);
	outlet_release(&s->outlet);
	trails_release(&s->trails);
	bytes_release(&s->text);
	free(s->rows);
	free(s->noted);
	*s = (struct screen){0};
}

void screen_clear(struct screen *s)
{
	trails_release(&s->trails);
	rows_drop(s->rows, s->n);
	s->n = 0;
	s->n_left_out = 0;
}

/* ---- threads' tags ----------------------------------------------------------
 */

/* Explains the row's tag where that has not been done, or its thread has
 * another name by now. */
static uint64_t put_note(struct screen *s, const struct thread *t, char *out)
{
	struct noted *noted;

	if (!s->cell.has_threads ||
	    array_room(&s->noted, &s->cap_noted, t->index + 1ull) < 0)
		return 0;
	noted = &s->noted[t->index];
	if (noted->tid == t->tid && !strcmp(noted->name, t->name))
		return 0;
	noted->tid = t->tid;
	memcpy(noted->name, t->name, sizeof(noted->name));
	return row_note(t->process + 1, t->ordinal, t->name, t->tid, &s->drawn,
			out);
}

/* Makes the cell as wide as the row needs it; returns whether it grew.  The
 * tree so begins in the same column, whether there are several threads yet or
 * not. */
static int cell_fit(struct screen *s, const struct screen_row *row)
{
	uint32_t process = row->thread->process + 1;
	uint32_t thread = row->thread->ordinal;
	unsigned width = 0, least = 0;

	s->cell.has_threads = s->look.thread && s->has_threads;
	if (s->look.id) {
		least = CELL_WIDTH;
		width = row_id_width(process, thread, row->number,
				     row->is_seed);
	} else if (s->look.thread) {
		least = TAG_WIDTH;
		width = s->has_threads ? row_tag_width(process, thread) : 0;
	}
	if (s->cell.width < least)
		s->cell.width = (uint8_t)least;
	if (s->cell.width >= width)
		return 0;
	s->cell.width = (uint8_t)(width + CELL_MORE);
	return 1;
}

/* ---- rows as text -----------------------------------------------------------
 */

static void put_heading(struct screen *s)
{
	char *p = (char *)bytes_reserve(&s->text, ROW_MAX);

	if (p)
		s->text.len +=
			row_heading(&s->drawn, &s->cell, s->is_folded, p);
}

/* Where there is none yet, or it does not fit the row. */
static void put_heading_for(struct screen *s, const struct screen_row *r)
{
	int has_grown = cell_fit(s, r);

	if (!s->has_heading) {
		s->has_stop_note = 0;
		for (uint32_t i = 0; i < s->cap_noted; i++)
			s->noted[i].tid = 0;
	}
	if (!s->has_heading || has_grown)
		put_heading(s);
	s->has_heading = 1;
}

/* How many lines above the cursor the count of this row is to be written over;
 * 0: it is a line of its own.  Notes what the last lines are now. */
static uint32_t lines_to_count(struct screen *s, const struct screen_row *r)
{
	uint64_t others;

	if (r->kind != ROW_COUNT || !s->others || !outlet_width(&s->outlet)) {
		s->n_counted = 0;
		return 0;
	}
	others = s->others(s->others_arg);
	if (others != s->others_wrote || others == UINT64_MAX ||
	    s->n_counted == COUNTED_LINES)
		s->n_counted = 0;
	s->others_wrote = others;
	for (uint32_t i = 0; i < s->n_counted; i++)
		if (s->counted[i].number == r->number &&
		    s->counted[i].thread == r->thread)
			return s->n_counted - i;
	s->counted[s->n_counted++] = (struct counted){r->thread, r->number};
	s->n_new_counts++;
	return 0;
}

int screen_may_count(struct screen *s)
{
	uint64_t now = clock_monotonic_ns();

	if (!s->others || !outlet_width(&s->outlet))
		return 0;
	if (now - s->new_counts_ns >= 1000000000) {
		s->new_counts_ns = now;
		s->n_new_counts = 0;
	}
	return s->n_new_counts < NEW_COUNTS_A_SECOND;
}

static void put_row(struct screen *s, const struct screen_row *r, int is_again)
{
	uint32_t n_up;
	struct row row = {
		.kind = r->kind,
		.is_unwound = r->is_unwound,
		.is_estimated = r->is_estimated,
		.is_seed = r->is_seed,
		.is_stopped = r->is_stopped,
		.is_vetoed = r->is_vetoed,
		.values = r->values,
		.has_other_values = r->has_other_values,
		.is_again = (uint8_t)is_again,
		.depth = r->depth,
		.time_ns = r->time_ns,
		.duration_ns = r->duration_ns,
		.names = s->names,
		.site = r->site,
		.from = r->from,
		.process = r->thread->process + 1,
		.thread = r->thread->ordinal,
		.number = r->number,
		.thread_color = r->thread->index,
		.n_folded = r->n_calls,
		.first_line = r->first_line,
		.last_line = r->last_line,
		.n_levels = r->n_levels,
		.n_loop = r->n_loop,
	};
	size_t before = s->text.len;
	char *begin, *p;

	put_heading_for(s, r);
	begin = p = (char *)bytes_reserve(&s->text, 2 * ROW_MAX);
	if (!p)
		return;
	row.cell = s->cell;
	p += put_note(s, r->thread, p);
	if (r->is_stopped && s->look.duration && !s->has_stop_note)
		p += row_stop_note(p);
	s->has_stop_note |= r->is_stopped;
	if (s->text.len != before || p != begin)
		s->n_counted = 0; /* another line came between */
	n_up = lines_to_count(s, r);
	if (n_up)
		p += sprintf(p, "\033[%" PRIu32 "A\033[2K", n_up);
	p += row_format(&row, &s->drawn, p);
	if (n_up > 1)
		p += sprintf(p, "\033[%" PRIu32 "B", n_up - 1);
	s->text.len += (size_t)(p - begin);
}

/* "8,421" */
static char *put_thousands(char *p, uint64_t n)
{
	char digits[24];
	char *end = number_put(digits, n);

	for (const char *d = digits; d < end; d++) {
		if (d > digits && (end - d) % 3 == 0)
			*p++ = ',';
		*p++ = *d;
	}
	return p;
}

static void put_left_out(struct screen *s)
{
	static const char middle[] = " not shown; `cstrace show -from ";
	const struct screen_row *first = &s->first_left_out;
	char *begin, *p;

	s->n_counted = 0;
	put_heading_for(s, first);
	begin = p = (char *)bytes_reserve(&s->text, ROW_MAX);
	if (!p)
		return;
	memcpy(p, "# ", 2);
	p = put_thousands(p + 2, s->n_left_out);
	memcpy(p, " rows", 5);
	p += s->n_left_out == 1 ? 4 : 5;
	memcpy(p, middle, strlen(middle));
	p = callid_put_numbers(p + strlen(middle), first->thread->process + 1,
			       first->thread->ordinal, first->number,
			       first->is_seed);
	memcpy(p, "`\n", 2);
	s->text.len += (size_t)(p + 2 - begin);
	s->n_left_out = 0;
}

/* Writes the callers of a row; where there are many, those between the outer
 * and the inner ones are only counted. */
static void put_callers(struct screen *s, struct trail *t,
			const struct screen_row *row)
{
	uint32_t n = trail_callers(t, row);

	t->is_cut = 0;
	for (uint32_t i = 0; i < n; i++) {
		char *begin, *p;

		if (i != OUTER_CALLERS || n <= OUTER_CALLERS + INNER_CALLERS) {
			put_row(s, &t->rows[i], 1);
			continue;
		}
		begin = p = (char *)bytes_reserve(&s->text, ROW_MAX);
		if (!p)
			return;
		memcpy(p, "# ... ", 6);
		p = put_thousands(p + 6, n - OUTER_CALLERS - INNER_CALLERS);
		memcpy(p, " calls in between\n", 18);
		s->text.len += (size_t)(p + 18 - begin);
		i = n - INNER_CALLERS - 1;
	}
}

/* ---- what waits -------------------------------------------------------------
 */

int screen_add(struct screen *s, const struct screen_row *row)
{
	if (array_room(&s->rows, &s->cap, s->n + 1ull) < 0) {
		screen_pass(s, row);
		return CST_MEMORY;
	}
	s->rows[s->n] = *row;
	s->rows[s->n].order = s->n;
	s->rows[s->n].values = values_keep(row->values);
	s->n++;
	return 0;
}

/* A count that is printed again is no further row. */
static uint64_t rows_of(const struct screen_row *row)
{
	return row->kind == ROW_COUNT ? 0 : row->n_calls;
}

/* The first is to be a call, for `show -from`: a closing row's call is older.
 */
void screen_pass(struct screen *s, const struct screen_row *row)
{
	struct trail *t = trails_of(&s->trails, row->lane);

	if (!rows_of(row))
		return;
	if (!s->n_left_out ||
	    (s->first_left_out.kind == ROW_CLOSE && row->kind != ROW_CLOSE))
		s->first_left_out = *row;
	s->n_left_out += rows_of(row);
	trails_follow(&s->trails, row);
	if (t)
		t->is_cut = 1;
}

int screen_add_behind(struct screen *s, struct screen_row *row)
{
	struct trail *t = trails_of(&s->trails, row->lane);

	if (t && row->at < t->latest)
		row->at = t->latest;
	if (t)
		t->latest = row->at;
	return screen_add(s, row);
}

void screen_count(struct screen *s, const struct thread *t, uint64_t number,
		  uint64_t n)
{
	if (n && (!s->n_left_out || s->first_left_out.kind == ROW_CLOSE))
		s->first_left_out = (struct screen_row){
			.thread = t, .number = number, .kind = ROW_CALL};
	s->n_left_out += n;
}

static void drop_front(struct screen *s, uint32_t n)
{
	rows_drop(s->rows, n);
	s->n -= n;
	memmove(s->rows, s->rows + n, s->n * sizeof(*s->rows));
	for (uint32_t i = 0; i < s->n; i++)
		s->rows[i].order = i;
}

static int row_order(const void *a, const void *b)
{
	const struct screen_row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* They mostly are in order, which is cheaper to see than to make. */
static void sort(struct screen *s)
{
	for (uint32_t i = 1; i < s->n; i++) {
		if (s->rows[i].at >= s->rows[i - 1].at)
			continue;
		qsort(s->rows, s->n, sizeof(*s->rows), row_order);
		return;
	}
}

static void earn(struct screen *s)
{
	uint64_t now = clock_monotonic_ns();
	double since_s = (double)(now - s->reported_at_ns) / 1e9;

	s->reported_at_ns = now;
	s->credit += since_s * ROWS_A_SECOND;
	if (s->credit > ROWS_AT_ONCE)
		s->credit = ROWS_AT_ONCE;
}

static void leave_out_oldest(struct screen *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		screen_pass(s, &s->rows[i]);
	drop_front(s, n);
}

/* Leave the oldest out, where there are more than can be afforded. */
static void thin_out(struct screen *s, int is_stop)
{
	uint32_t most, n;

	earn(s);
	most = s->credit > 0 ? (uint32_t)s->credit : 0;
	if (is_stop && most < ROWS_AT_STOP)
		most = ROWS_AT_STOP;
	if (s->n <= most)
		return;
	n = s->n - most;
	leave_out_oldest(s, n);
}

void screen_leave_out(struct screen *s)
{
	sort(s);
	leave_out_oldest(s, s->n);
}

static void put_next(struct screen *s, const struct screen_row *row)
{
	struct trail *t = trails_of(&s->trails, row->lane);

	if (t && t->is_cut)
		put_callers(s, t, row);
	put_row(s, row, 0);
	if (s->outlet.is_slow)
		trails_follow(&s->trails, row);
}

static void write_text(struct screen *s, int patience_ms)
{
	outlet_put(&s->outlet, (char *)s->text.data, s->text.len, patience_ms);
	s->text.len = 0;
}

void screen_write(struct screen *s, int is_stop, int patience_ms)
{
	int is_slow = s->outlet.is_slow && patience_ms != OUTLET_FOREVER;
	int is_callback = s->outlet.sink == CST_SINK_CALLBACK;
	uint32_t i = 0;

	if (is_stop)
		s->n_counted = 0; /* gdb writes next */
	if (!s->n && !s->n_left_out)
		return;
	sort(s);
	if (!outlet_is_ready(&s->outlet, patience_ms))
		return;
	s->drawn = s->look;
	if (s->drawn.width == CST_WIDTH_TERMINAL)
		s->drawn.width = outlet_width(&s->outlet);
	s->drawn = row_look(&s->drawn);
	if (s->outlet.is_slow && (is_slow || is_stop))
		thin_out(s, is_stop);
	if (s->n_left_out)
		put_left_out(s);
	while (i < s->n) {
		put_next(s, &s->rows[i++]);
		if (s->text.len < PIECE || is_callback)
			continue;
		write_text(s, patience_ms);
		if (!outlet_is_ready(&s->outlet, patience_ms)) {
			s->credit = i; /* it is full */
			break;
		}
	}
	write_text(s, patience_ms);
	s->credit -= i;
	drop_front(s, i);
}
