/* SPDX-License-Identifier: MIT
 *
 * The live view: decides for each call whether and when it has a row, draws
 * pictures of what waits, and passes calls without rows in a flood.
 */
#include "recorder/live.h"
#include "area/clock.h"
#include "rows/fold_live.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_PENDING = 65536,
	/* Where the oldest may be left out; they stay in the cache. */
	MAX_WAITING = 4096,
	PICTURE_NS = 80000000,
};

/* Rows of this number are none. */
static const uint64_t no_row = UINT64_MAX;

/* No caller is shown. */
static const uint32_t NO_SITE = UINT32_MAX;

struct pending {
	uint64_t time; /* ticks: of the entry, or of the end when it closes */
	uint64_t start, end;
	uint64_t number;
	const struct thread *thread;
	/* Where the call whose row this is learns that it was printed. */
	struct stack *stack;
	uint32_t index;
	uint32_t site;
	uint32_t from;
	uint32_t depth;
	uint8_t kind; /* enum row_kind */
	uint8_t is_unwound;
	uint8_t is_vetoed;
	uint8_t is_seed;
	const struct values *values; /* a reference, or NULL */
};

/* In place of what unwound a call: a callback vetoed it. */
static const uint32_t VETOED = UINT32_MAX;

static void rows_drop(struct pending *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		values_drop(rows[i].values);
}

int live_init(struct live *l, const struct names *names, struct cst_error *err)
{
	*l = (struct live){.names = names};
	screen_init(&l->screen, names);
	l->rows = malloc(MAX_PENDING * sizeof(*l->rows));
	if (!l->rows) {
		live_release(l);
		return cst_fail_memory(err);
	}
	return 0;
}

void live_release(struct live *l)
{
	filter_free(l->filter);
	fold_free(l->fold);
	hashmap_release(&l->stacks);
	screen_release(&l->screen);
	free(l->span.from);
	free(l->span.until);
	if (l->rows)
		rows_drop(l->rows, l->n_rows);
	free(l->rows);
	free(l->hides);
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

/* ---- from what is pending to the screen ---------------------------------- */

static uint32_t lane_of(struct live *l, const struct stack *s)
{
	uint32_t *known = hashmap_get(&l->stacks, (uintptr_t)s);

	if (known)
		return *known;
	hashmap_put(&l->stacks, (uintptr_t)s, l->n_stacks);
	return l->n_stacks++;
}

static uint8_t was_stopped(const struct live *l, const struct pending *p)
{
	return p->kind != ROW_OPEN && l->pauses &&
	       pauses_are_within(l->pauses, p->start, p->end);
}

static struct screen_row row_of(struct live *l, const struct pending *p)
{
	return (struct screen_row){
		.at = live_ns(l, p->time - l->start_ticks),
		.time_ns = live_time_ns(l, p->time),
		.duration_ns = live_ns(l, p->end - p->start),
		.number = p->number,
		.n_calls = 1,
		.thread = p->thread,
		.lane = lane_of(l, p->stack),
		.site = p->site,
		.from = p->from,
		.depth = p->depth,
		.kind = p->kind,
		.is_unwound = p->is_unwound,
		.is_vetoed = p->is_vetoed,
		.values = p->values,
		.is_seed = p->is_seed,
		.is_stopped = was_stopped(l, p),
	};
}

static void drop_front(struct live *l, uint32_t n)
{
	rows_drop(l->rows, n);
	l->first_row += n;
	l->n_rows -= n;
	memmove(l->rows, l->rows + n, l->n_rows * sizeof(*l->rows));
}

/* ---- folding --------------------------------------------------------------
 */

static int put_folded(void *arg, const struct folded *folded)
{
	struct live *l = arg;
	const struct shown *call = &folded->call;
	struct screen_row row = {
		.at = call->start_ns,
		.time_ns = call->start_ns,
		.duration_ns = call->duration_ns,
		.number = call->number,
		.n_calls = folded->n_calls,
		.thread = (const void *)(uintptr_t)folded->cookie,
		.lane = call->lane,
		.site = call->site,
		.from = call->from,
		.depth = call->depth,
		.first_line = folded->first_line,
		.last_line = folded->last_line,
		.n_levels = folded->n_levels,
		.n_loop = folded->n_loop,
		.kind = call->end == CALL_OPEN ? ROW_OPEN : ROW_CALL,
		.is_unwound = call->end == CALL_UNWOUND,
		.is_vetoed = call->thrown == VETOED,
		.values = call->values,
		.has_other_values = folded->has_other_values,
		.is_seed = call->is_seed,
		.is_stopped = shown_is_stopped(call),
	};

	if (folded->is_early && !screen_may_count(&l->screen))
		return FOLD_LATER;
	if (folded->is_count)
		row.kind = ROW_COUNT;
	if (folded->is_close) {
		row.kind = ROW_CLOSE;
		row.time_ns = row.at += call->duration_ns;
	}
	if (l->options.look.timestamp == CST_TIME_WALL)
		row.time_ns += l->start_wall_ns + live_ns(l, l->paused_ticks);
	if (screen_add_behind(&l->screen, &row) < 0)
		screen_pass(&l->screen, &row);
	return 0;
}

static uint64_t since_begin_ns(const struct live *l, uint64_t ticks)
{
	return ticks > l->start_ticks ? live_ns(l, ticks - l->start_ticks) : 0;
}

static int fold_pending(struct live *l, const struct pending *p)
{
	const struct shown call = {
		.start_ns = since_begin_ns(l, p->kind == ROW_CLOSE ? p->start
								   : p->time),
		.duration_ns = live_ns(l, p->end - p->start),
		.number = p->number,
		.thread = p->thread->index,
		.lane = lane_of(l, p->stack),
		.site = p->site,
		.from = p->from,
		.depth = p->depth,
		.end = p->kind == ROW_OPEN ? CALL_OPEN
		       : p->is_unwound	   ? CALL_UNWOUND
					   : CALL_RETURN,
		.thrown = p->is_vetoed ? VETOED : 0,
		.values = p->values,
		.is_seed = p->is_seed,
		.n_stops = was_stopped(l, p),
	};
	uint64_t cookie = (uintptr_t)p->thread;

	return p->kind == ROW_CLOSE ? fold_close(l->fold, &call, cookie)
				    : fold_add(l->fold, &call, cookie);
}

static void fold_restart(struct live *l)
{
	fold_free(l->fold);
	l->fold = NULL;
	l->screen.is_folded = l->options.look.fold && !l->is_exact;
	if (!l->screen.is_folded)
		return;
	l->fold = fold_new(l->names, put_folded, l);
	if (l->fold)
		fold_live(l->fold);
}

/* Calls that are pending for their duration (min_ns) come behind those that
 * they make. */
static int time_order(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Calls whose rows are written as open need a closing row later. */
static void live_hand_over(struct live *l, uint64_t now, int is_stop)
{
	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct pending *p = &l->rows[i];

		if (p->kind == ROW_OPEN)
			p->stack->calls[p->index].is_printed = 1;
	}
	if (l->fold && l->options.min_ns && l->n_rows)
		qsort(l->rows, l->n_rows, sizeof(*l->rows), time_order);
	for (uint32_t i = 0; i < l->n_rows; i++) {
		const struct pending *p = &l->rows[i];
		const struct screen_row row = row_of(l, p);

		/* Without memory it is a row that is left out. */
		if ((l->fold ? fold_pending(l, p)
			     : screen_add(&l->screen, &row)) < 0)
			screen_pass(&l->screen, &row);
	}
	drop_front(l, l->n_rows);
	if (l->fold)
		fold_show(l->fold, since_begin_ns(l, now), is_stop);
}

/* The oldest n, and what waits on the screen, which is older.  A call that is
 * open is among the callers of what follows, so it is closed by a row. */
static void live_leave_out(struct live *l, uint32_t n)
{
	if (l->fold)
		fold_forget(l->fold);
	fold_restart(l);
	screen_leave_out(&l->screen);
	for (uint32_t i = 0; i < n; i++) {
		const struct pending *p = &l->rows[i];
		const struct screen_row row = row_of(l, p);

		if (p->kind == ROW_OPEN)
			p->stack->calls[p->index].is_printed = 1;
		screen_pass(&l->screen, &row);
	}
	drop_front(l, n);
}

static int may_leave_out(const struct live *l)
{
	return l->screen.outlet.is_slow && !l->is_exact;
}

/* May calls be passed in a flood?  Not where a row tells of more than of its
 * call and of who called it. */
static int may_pass(const struct live *l)
{
	return may_leave_out(l) && !l->options.min_ns && !l->options.thread &&
	       !l->span.from && !l->span.until && filter_is_plain(l->filter);
}

/* A picture is drawn. */
static void flood_look(struct live *l)
{
	uint64_t next_row = l->first_row + l->n_rows;

	if (next_row - l->counted_row + l->n_passed < MAX_WAITING)
		l->is_flooded = 0;
	l->counted_row = next_row;
	l->n_passed = 0;
}

static void live_write(struct live *l, uint64_t now, int is_stop,
		       int patience_ms)
{
	flood_look(l);
	live_hand_over(l, now, is_stop);
	screen_write(&l->screen, is_stop, patience_ms);
}

/* ---- rows ---------------------------------------------------------------- */

static void live_make_room(struct live *l)
{
	if (l->n_rows == MAX_PENDING)
		live_write(l, l->rows[l->n_rows - 1].time, 0, OUTLET_FOREVER);
	else if (l->n_rows >= MAX_WAITING && may_leave_out(l)) {
		l->is_flooded = (uint8_t)may_pass(l);
		live_leave_out(l, MAX_WAITING / 2);
	}
}

static struct pending *live_add(struct live *l, const struct thread *t,
				struct stack *s, struct open_call *o,
				enum row_kind kind)
{
	struct pending *p;

	if (l->n_rows >= MAX_WAITING)
		live_make_room(l);
	p = &l->rows[l->n_rows];
	*p = (struct pending){
		.time = o->start,
		.start = o->start,
		.end = o->start,
		.number = o->number,
		.thread = t,
		.stack = s,
		.index = (uint32_t)(o - s->calls),
		.site = o->call_site,
		.from = o->from == NO_SITE ? o->call_site : o->from,
		.depth = o->above.depth,
		.kind = (uint8_t)kind,
		.is_seed = o->is_seed,
		.values = values_keep(stack_values(s, o)),
	};
	/* When an asynchronous span began. */
	if (p->values &&
	    l->names->functions[o->function].kind == KIND_ASYNC_END)
		p->start -= values_ticks(p->values);
	o->row = l->first_row + l->n_rows++;
	return p;
}

/* What is not kept, for its depth, has no row either. */
static int is_dropped(const struct live *l, const struct stack *s,
		      const struct open_call *o)
{
	return l->options.keep_depth &&
	       (uint64_t)(o - s->calls) >= l->options.keep_depth;
}

static int is_shown(const struct live *l, const struct thread *t,
		    const struct stack *s, const struct open_call *o)
{
	return o->is_visible && !is_dropped(l, s, o) &&
	       (!l->options.thread || l->options.thread == t->ordinal);
}

static int is_word(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

int live_set_span(struct live *l, const char *from, const char *until)
{
	struct live_span *s = &l->span, new = {0};

	if (is_word(s->from, from) && is_word(s->until, until))
		return 0;
	new.from = from ? strdup(from) : NULL;
	new.until = until ? strdup(until) : NULL;
	if ((from && !new.from) || (until && !new.until)) {
		free(new.from);
		free(new.until);
		return CST_MEMORY;
	}
	free(s->from);
	free(s->until);
	*s = new;
	return 0;
}

/* A call of another thread that is read before the one that `from` waits for,
 * but came after it, is missing here, in these rows alone. */
static int span_takes(struct live *l, const struct open_call *o)
{
	struct live_span *s = &l->span;

	if (s->from && !s->has_from &&
	    filter_begins(l->filter, l->names, o->function)) {
		s->has_from = 1;
		s->from_ticks = o->start;
	}
	if (s->from && (!s->has_from || o->start < s->from_ticks))
		return 0;
	if (s->has_until)
		return o->start <= s->until_ticks;
	if (s->until && (!s->from || o->start > s->from_ticks) &&
	    filter_ends(l->filter, l->names, o->function)) {
		s->has_until = 1;
		s->until_ticks = o->start;
	}
	return 1;
}

static void call_filter(struct live *l, struct stack *s, struct open_call *o)
{
	const struct open_call *caller = o == s->calls ? NULL : o - 1;

	o->from = !caller	       ? NO_SITE
		  : caller->is_visible ? o->call_site
				       : caller->from;
	o->row = no_row;
	o->is_listed = 1;
	o->is_printed = 0;
	o->above = o == s->calls ? filter_root(l->filter) : o[-1].below;
	o->is_visible = (uint8_t)filter_enter(l->filter, l->names, o->function,
					      o->above, &o->below);
	if ((l->span.from || l->span.until) && !span_takes(l, o)) {
		o->is_visible = 0;
		o->below.depth = o->above.depth;
	}
}

/* The row that was added last is for the trail alone. */
static void live_drop_last(struct live *l)
{
	l->first_row++;
	rows_drop(&l->rows[--l->n_rows], 1);
}

void live_entered(void *arg, struct thread *t, struct stack *s,
		  struct open_call *o)
{
	struct live *l = arg;

	call_filter(l, s, o);
	if (is_shown(l, t, s, o) && !l->options.min_ns)
		live_add(l, t, s, o, ROW_OPEN);
}

/* With min_ns: the callers of a call that is about to be written. */
static void live_add_callers(struct live *l, struct thread *t, struct stack *s,
			     uint32_t n)
{
	for (; s->n_shown < n; s->n_shown++) {
		struct open_call *o = &s->calls[s->n_shown];

		if (is_shown(l, t, s, o) && !o->is_printed && o->row == no_row)
			live_add(l, t, s, o, ROW_OPEN);
	}
}

static void live_hear(struct live *l, struct callstack *c)
{
	c->listener = (struct call_listener){live_entered, live_left, l};
}

static void row_close(struct pending *p, const struct stack *s, uint64_t end,
		      enum call_end how)
{
	const struct values *v = p->values, *result = s->result;

	p->end = end;
	p->is_unwound = how == CALL_UNWOUND;
	p->is_vetoed = s->is_vetoed;
	if (!result)
		return;
	p->values = values_new(v ? v->data : NULL, v ? v->n : 0, result->data,
			       result->n);
	values_drop(v);
}

void live_left(void *arg, struct thread *t, struct stack *s,
	       struct open_call *o, uint64_t end, enum call_end how)
{
	struct live *l = arg;
	struct pending *p;

	/* A row that was written before a filter hid the call is closed. */
	if (!is_shown(l, t, s, o) && !o->is_printed)
		return;
	if (o->row != no_row && o->row >= l->first_row) {
		p = &l->rows[o->row - l->first_row];
		p->kind = ROW_CALL;
		row_close(p, s, end, how);
	} else if (o->is_printed) {
		p = live_add(l, t, s, o, ROW_CLOSE);
		p->time = end;
		row_close(p, s, end, how);
	} else if (l->options.min_ns &&
		   live_ns(l, end - o->start) >= l->options.min_ns) {
		live_add_callers(l, t, s, (uint32_t)(o - s->calls));
		row_close(live_add(l, t, s, o, ROW_CALL), s, end, how);
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
		if (is_shown(l, t, s, o) && !o->is_printed && o->row == no_row)
			live_add(l, t, s, o, ROW_OPEN);
		s->n_shown++;
	}
}

/* ---- floods ----------------------------------------------------------------
 */

int live_is_due(const struct live *l)
{
	return clock_monotonic_ns() - l->drawn_ns >= PICTURE_NS;
}

/* Which sites' calls have no rows; n: of all. */
static void hides_learn(struct live *l, const struct site *sites, uint32_t n)
{
	uint8_t *all = realloc(l->hides, n);

	if (!all)
		return; /* hidden calls are counted, too */
	l->hides = all;
	for (; l->n_hides < n; l->n_hides++) {
		const struct site *site = &sites[l->n_hides];
		uint8_t is_hidden =
			site->kind == CST_ENTER && !site->is_muted &&
			site->function < l->names->n_functions &&
			filter_hides(l->filter, l->names, site->function);

		all[l->n_hides] = is_hidden;
		l->has_hidden |= is_hidden;
	}
}

static uint64_t count_hidden(const struct live *l,
			     const struct cst_record *records, uint32_t n)
{
	uint64_t n_hidden = 0;

	for (uint32_t i = 0; i < n && l->has_hidden; i++) {
		uint32_t number = cst_record_site(&records[i]);

		n_hidden += number < l->n_hides && l->hides[number];
	}
	return n_hidden;
}

static uint32_t depth_of(const struct stack *s, uint32_t n)
{
	return n ? s->calls[n - 1].below.depth : 0;
}

void live_pass(struct live *l, struct callstack *c)
{
	if (l->is_passing)
		return;
	l->is_passing = 1;
	live_leave_out(l, l->n_rows);
	c->listener = (struct call_listener){0};
	l->n_hides = l->has_hidden = 0; /* functions may have other names now */
	for (struct stack *s = c->stacks; s; s = s->next)
		s->n_listed = depth_of(s, s->n);
}

void live_passed(struct live *l, const struct callstack *c,
		 const struct thread *t, const struct cst_record *records,
		 uint32_t n, uint64_t n_calls)
{
	uint64_t n_hidden, n_rows;

	if (l->n_hides < c->sites->n)
		hides_learn(l, c->sites->all, c->sites->n);
	n_hidden = count_hidden(l, records, n);
	n_rows = n_calls > n_hidden ? n_calls - n_hidden : 0;
	screen_count(&l->screen, t, t->n_calls - n_calls + 1, n_rows);
	l->n_passed += n_rows;
}

/* The call is around what comes next. */
static void trail_open(struct live *l, struct stack *s, struct open_call *o)
{
	const struct screen_row row =
		row_of(l, live_add(l, s->thread, s, o, ROW_OPEN));

	trails_follow(&l->screen.trails, &row);
	live_drop_last(l);
	o->row = no_row;
}

/* The trail is to be as if all had been heard of. */
static void stack_listen(struct live *l, struct stack *s)
{
	struct trail *trail = trails_of(&l->screen.trails, lane_of(l, s));
	uint32_t n = s->n, depth;

	while (n && !s->calls[n - 1].is_listed)
		n--;
	depth = depth_of(s, n);
	screen_count(&l->screen, s->thread, s->thread->n_calls,
		     s->n_listed - depth);
	if (!trail)
		return;
	while (trail->n && trail->rows[trail->n - 1].depth >= depth)
		trail->n--;
	trail->is_cut = 1;
	for (; n < s->n; n++) {
		struct open_call *o = &s->calls[n];

		call_filter(l, s, o);
		if (!o->is_visible)
			continue;
		trail_open(l, s, o);
		o->is_printed = 1;
	}
}

void live_listen(struct live *l, struct callstack *c)
{
	if (!l->is_passing)
		return;
	l->is_passing = 0;
	live_hear(l, c);
	for (struct stack *s = c->stacks; s; s = s->next)
		stack_listen(l, s);
}

static int is_due(struct live *l)
{
	uint64_t now_ns;

	if (!may_leave_out(l))
		return 1;
	now_ns = clock_monotonic_ns();
	if (now_ns - l->drawn_ns < PICTURE_NS)
		return 0;
	l->drawn_ns = now_ns;
	return outlet_is_ready(&l->screen.outlet, OUTLET_NOT);
}

static void live_look(struct live *l, struct callstack *c, uint64_t now)
{
	if (!l->options.min_ns)
		return;
	for (struct stack *s = c->stacks; s; s = s->next)
		live_add_old(l, s, s->thread, now);
}

void live_flush(struct live *l, struct callstack *c, uint64_t now)
{
	/* While calls are passed there is nothing new to draw. */
	if (!l->filter || l->is_passing)
		return;
	live_look(l, c, now);
	if (is_due(l))
		live_write(l, now, 0,
			   may_leave_out(l) ? OUTLET_NOT : OUTLET_FOREVER);
}

void live_settle(struct live *l, struct callstack *c, uint64_t now,
		 int patience_ms)
{
	if (!l->filter)
		return;
	live_look(l, c, now);
	live_write(l, now, !l->is_exact,
		   l->is_exact ? OUTLET_FOREVER : patience_ms);
}

void live_forget(struct live *l)
{
	rows_drop(l->rows, l->n_rows);
	l->first_row += l->n_rows;
	l->n_rows = 0;
	l->is_passing = l->is_flooded = 0;
	screen_clear(&l->screen);
	hashmap_release(&l->stacks);
	l->n_stacks = 0;
	fold_restart(l);
}

void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c)
{
	int was_on = l->filter != NULL;

	if (was_on)
		live_write(l, 0, 1, LIVE_STOP_MS);
	filter_free(l->filter);
	l->filter = filter;
	if (l->screen.look.id != options->look.id ||
	    l->screen.look.thread != options->look.thread)
		l->screen.cell = (struct row_cell){0};
	l->options = *options;
	l->screen.look = options->look;
	outlet_turn(&l->screen.outlet, options->sink, options->fd);
	fold_restart(l);
	c->listener = (struct call_listener){0};
	l->is_passing = l->is_flooded = 0;
	if (!filter)
		return;
	live_hear(l, c);
	for (struct stack *s = c->stacks; s; s = s->next) {
		struct trail *trail =
			trails_of(&l->screen.trails, lane_of(l, s));

		s->n_shown = 0;
		if (trail)
			trail->n = 0;
		for (uint32_t i = 0; i < s->n; i++) {
			struct open_call *o = &s->calls[i];
			uint8_t was_printed =
				was_on && o->is_listed && o->is_printed;

			call_filter(l, s, o);
			if (o->is_visible)
				trail_open(l, s, o);
			/* It still wants its closing row. */
			o->is_printed = was_printed;
		}
	}
}
