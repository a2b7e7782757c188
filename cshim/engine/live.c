/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_PENDING = 65536,
	BUFFER_SIZE = 1 << 18,
	/* The cell's width at first, and how much it grows: so seldom that
	 * the columns stay where they are. */
	CELL_WIDTH = 10,
	CELL_MORE = 3,
	TAG_WIDTH = 2,
};

/* Rows of this number are none. */
static const uint64_t no_row = UINT64_MAX;

struct pending {
	uint64_t time; /* ticks: of the entry, or of the end when it closes */
	uint64_t start, end;
	uint32_t order; /* keeps rows of equal time as they came */
	uint32_t site;
	uint32_t depth;
	uint32_t tid;
	uint32_t color;
	uint32_t process, thread; /* ordinals */
	uint64_t number;
	uint8_t kind; /* enum row_kind */
	uint8_t is_unwound;
	uint8_t is_seed;
	char thread_name[16];
	/* The call whose row this is, to be told that it was printed. */
	struct stack *stack;
	uint32_t index;
};

/* What a thread's tag was last explained with. */
struct noted {
	uint32_t tid; /* 0: not yet */
	char name[16];
};

int live_init(struct live *l, const struct names *names, struct cst_error *err)
{
	*l = (struct live){.names = names};
	l->rows = malloc(MAX_PENDING * sizeof(*l->rows));
	l->buffer = malloc(BUFFER_SIZE);
	if (!l->rows || !l->buffer) {
		live_release(l);
		return cst_fail_memory(err);
	}
	return 0;
}

void live_release(struct live *l)
{
	filter_free(l->filter);
	free(l->rows);
	free(l->buffer);
	free(l->noted);
	*l = (struct live){0};
}

static uint64_t live_ns(const struct live *l, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * l->ns_mult >> l->ns_shift);
}

static uint64_t live_time_ns(const struct live *l, uint64_t ticks)
{
	uint64_t since = ticks > l->start_ticks ? ticks - l->start_ticks : 0;

	if (l->options.look.timestamp == CST_TIME_WALL)
		return l->start_wall_ns + live_ns(l, since + l->paused_ticks);
	return live_ns(l, since);
}

/* ---- writing ------------------------------------------------------------ */

/* 0, or an errno; as below. */
static int write_all(int fd, const char *text, uint64_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n >= 0) {
			text += n;
			size -= (uint64_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd p = {.fd = fd, .events = POLLOUT};

			poll(&p, 1, 100);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* Rows go out whole: a pipe takes PIPE_BUF bytes in one piece, and more than
 * that with what the program writes in the middle. */
static int write_rows(int fd, const char *text, uint64_t size)
{
	int failed = 0;

	while (size > PIPE_BUF && !failed) {
		const char *end = memrchr(text, '\n', PIPE_BUF);
		uint64_t n = end ? (uint64_t)(end - text) + 1 : PIPE_BUF;

		failed = write_all(fd, text, n);
		text += n;
		size -= n;
	}
	return failed ? failed : write_all(fd, text, size);
}

static void live_emit(struct live *l, uint64_t size)
{
	int failed = 0;

	if (!size)
		return;
	if (l->options.sink == CST_SINK_FD)
		failed = write_rows(l->options.fd, l->buffer, size);
	else if (l->options.sink == CST_SINK_CALLBACK)
		l->text(l->arg, l->buffer, size);
	if (failed)
		l->failed_errno = failed;
}

static uint64_t format_pending(const struct live *l, const struct pending *p,
			       uint64_t n_folded, uint64_t duration, char *out)
{
	struct row row = {
		.kind = p->kind,
		.is_unwound = p->is_unwound,
		.is_seed = p->is_seed,
		.depth = p->depth,
		.time_ns = live_time_ns(l, p->time),
		.duration_ns = live_ns(l, duration),
		.names = l->names,
		.site = p->site,
		.process = p->process,
		.thread = p->thread,
		.number = p->number,
		.cell = l->cell,
		.thread_color = p->color,
		.n_folded = n_folded,
	};

	return row_format(&row, &l->options.look, out);
}

static int row_order(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int is_alike(const struct pending *a, const struct pending *b)
{
	return a->kind == ROW_CALL && b->kind == ROW_CALL &&
	       a->site == b->site && a->depth == b->depth && a->tid == b->tid &&
	       a->is_unwound == b->is_unwound;
}

/* Rows [i, ...) that are folded into one: their number and whole duration. */
static uint32_t count_alike(const struct live *l, uint32_t i,
			    uint64_t *duration)
{
	uint32_t n = 1;

	*duration = l->rows[i].end - l->rows[i].start;
	if (!l->options.look.fold)
		return 1;
	while (i + n < l->n_rows && is_alike(&l->rows[i], &l->rows[i + n])) {
		*duration += l->rows[i + n].end - l->rows[i + n].start;
		n++;
	}
	/* The last of them may have callees below it. */
	if (n > 1 && i + n < l->n_rows &&
	    l->rows[i + n].tid == l->rows[i].tid &&
	    l->rows[i + n].depth > l->rows[i].depth) {
		n--;
		*duration -= l->rows[i + n].end - l->rows[i + n].start;
	}
	return n;
}

static int noted_room(struct live *l, uint32_t thread)
{
	uint32_t cap = thread + 64;
	struct noted *p;

	if (thread < l->cap_noted)
		return 0;
	p = cap > thread ? realloc(l->noted, cap * sizeof(*p)) : NULL;
	if (!p)
		return -1;
	memset(p + l->cap_noted, 0, (cap - l->cap_noted) * sizeof(*p));
	l->noted = p;
	l->cap_noted = cap;
	return 0;
}

/* Explains the row's tag where that has not been done, or its thread has
 * another name by now. */
static uint64_t put_note(struct live *l, const struct pending *p, char *out)
{
	struct noted *noted;

	if (!l->cell.tag || noted_room(l, p->color) < 0)
		return 0;
	noted = &l->noted[p->color];
	if (noted->tid == p->tid && !strcmp(noted->name, p->thread_name))
		return 0;
	noted->tid = p->tid;
	memcpy(noted->name, p->thread_name, sizeof(noted->name));
	return row_note(p->process, p->thread, p->thread_name, p->tid, out);
}

/* Makes the cell as wide as the row needs it; returns whether it grew.  The
 * tree so begins in the same column, whether there are several threads yet or
 * not. */
static int cell_fit(struct live *l, const struct pending *p)
{
	const struct cst_look *look = &l->options.look;
	unsigned tag = 0, id = 0, least = 0, width;

	if (look->thread) {
		least = TAG_WIDTH;
		tag = l->has_threads ? row_tag_width(p->process, p->thread) : 0;
		tag = tag > l->cell.tag ? tag : l->cell.tag;
	}
	if (look->id) {
		least = CELL_WIDTH;
		id = row_id_width(p->process, p->thread, p->number, p->is_seed);
	}
	width = tag + id + (tag && id);
	l->cell.tag = (uint8_t)tag;
	if (l->cell.width < least)
		l->cell.width = (uint8_t)least;
	if (l->cell.width >= width)
		return 0;
	l->cell.width = (uint8_t)(width + CELL_MORE);
	return 1;
}

static void live_write_rows(struct live *l)
{
	uint64_t used = 0;

	if (!l->n_rows)
		return;
	qsort(l->rows, l->n_rows, sizeof(*l->rows), row_order);
	cell_fit(l, &l->rows[0]);
	if (!l->has_heading) {
		used = row_heading(&l->options.look, &l->cell, l->buffer);
		l->has_heading = 1;
		for (uint32_t i = 0; i < l->cap_noted; i++)
			l->noted[i].tid = 0;
	}
	for (uint32_t i = 0; i < l->n_rows;) {
		uint64_t duration;
		uint32_t n = count_alike(l, i, &duration);

		if (cell_fit(l, &l->rows[i]))
			used += row_heading(&l->options.look, &l->cell,
					    l->buffer + used);
		used += put_note(l, &l->rows[i], l->buffer + used);
		used += format_pending(l, &l->rows[i], n, duration,
				       l->buffer + used);
		i += n;
		if (used > BUFFER_SIZE - 2 * ROW_MAX) {
			live_emit(l, used);
			used = 0;
		}
	}
	live_emit(l, used);
}

/* Those whose rows are written open want a closing row later. */
static void live_mark_printed(struct live *l)
{
	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct pending *p = &l->rows[i];

		if (p->kind == ROW_OPEN)
			p->stack->calls[p->index].is_printed = 1;
	}
}

static void live_write(struct live *l)
{
	live_mark_printed(l);
	live_write_rows(l);
	l->first_row += l->n_rows;
	l->n_rows = 0;
}

/* ---- rows ---------------------------------------------------------------- */

static struct pending *live_add(struct live *l, struct thread *t,
				struct stack *s, struct open_call *o,
				enum row_kind kind)
{
	struct pending *p;

	if (l->n_rows == MAX_PENDING)
		live_write(l);
	p = &l->rows[l->n_rows];
	*p = (struct pending){
		.time = o->start,
		.start = o->start,
		.order = l->n_rows,
		.site = o->call_site,
		.depth = o->above.depth,
		.tid = t->tid,
		.color = t->index,
		.process = t->process + 1,
		.thread = t->ordinal,
		.number = o->number,
		.kind = (uint8_t)kind,
		.is_seed = o->is_seed,
		.stack = s,
		.index = (uint32_t)(o - s->calls),
	};
	memcpy(p->thread_name, t->name, sizeof(p->thread_name));
	o->row = l->first_row + l->n_rows++;
	return p;
}

static int is_shown(const struct live *l, const struct thread *t,
		    const struct open_call *o)
{
	return o->is_visible &&
	       (!l->options.thread || l->options.thread == t->ordinal);
}

static void call_filter(struct live *l, struct stack *s, struct open_call *o)
{
	o->row = no_row;
	o->is_printed = 0;
	o->above = o == s->calls ? filter_root(l->filter) : o[-1].below;
	o->is_visible = (uint8_t)filter_enter(l->filter, l->names, o->function,
					      o->above, &o->below);
}

void live_entered(void *arg, struct thread *t, struct stack *s,
		  struct open_call *o)
{
	struct live *l = arg;

	call_filter(l, s, o);
	if (is_shown(l, t, o) && !l->options.min_ns)
		live_add(l, t, s, o, ROW_OPEN);
}

/* With min_ns: the callers of a call that is about to be written. */
static void live_add_callers(struct live *l, struct thread *t, struct stack *s,
			     uint32_t n)
{
	for (; s->n_shown < n; s->n_shown++) {
		struct open_call *o = &s->calls[s->n_shown];

		if (is_shown(l, t, o) && !o->is_printed && o->row == no_row)
			live_add(l, t, s, o, ROW_OPEN);
	}
}

static void row_close(struct pending *p, uint64_t end, enum call_end how)
{
	p->end = end;
	p->is_unwound = how == CALL_UNWOUND;
}

void live_left(void *arg, struct thread *t, struct stack *s,
	       struct open_call *o, uint64_t end, enum call_end how)
{
	struct live *l = arg;
	struct pending *p;

	if (!is_shown(l, t, o))
		return;
	if (o->row != no_row && o->row >= l->first_row) {
		p = &l->rows[o->row - l->first_row];
		p->kind = ROW_CALL;
		row_close(p, end, how);
	} else if (o->is_printed) {
		p = live_add(l, t, s, o, ROW_CLOSE);
		p->time = end;
		row_close(p, end, how);
	} else if (l->options.min_ns &&
		   live_ns(l, end - o->start) >= l->options.min_ns) {
		live_add_callers(l, t, s, (uint32_t)(o - s->calls));
		row_close(live_add(l, t, s, o, ROW_CALL), end, how);
	}
}

/* With min_ns: calls that have been open for so long by now. */
static void live_add_old(struct live *l, struct stack *s, struct thread *t,
			 uint64_t now)
{
	while (s->n_shown < s->n) {
		struct open_call *o = &s->calls[s->n_shown];

		if (now < o->start ||
		    live_ns(l, now - o->start) < l->options.min_ns)
			return;
		if (is_shown(l, t, o) && !o->is_printed && o->row == no_row)
			live_add(l, t, s, o, ROW_OPEN);
		s->n_shown++;
	}
}

void live_flush(struct live *l, struct callstack *c, uint64_t now)
{
	if (!l->filter)
		return;
	if (l->options.min_ns) {
		for (struct stack *s = c->stacks; s; s = s->next)
			live_add_old(l, s, s->thread, now);
	}
	live_write(l);
}

void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c)
{
	int was_on = l->filter != NULL;

	live_write(l);
	filter_free(l->filter);
	l->filter = filter;
	if (l->options.look.id != options->look.id ||
	    l->options.look.thread != options->look.thread)
		l->cell = (struct row_cell){0};
	l->options = *options;
	c->listener = (struct call_listener){0};
	if (!filter)
		return;
	c->listener = (struct call_listener){live_entered, live_left, l};
	for (struct stack *s = c->stacks; s; s = s->next) {
		s->n_shown = 0;
		for (uint32_t i = 0; i < s->n; i++) {
			struct open_call *o = &s->calls[i];
			uint8_t was_printed = was_on && o->is_printed;

			call_filter(l, s, o);
			/* It still wants its closing row. */
			o->is_printed = was_printed;
		}
	}
}
