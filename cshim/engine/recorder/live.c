/* SPDX-License-Identifier: MIT
 *
 * The live view: decides for each call whether and when it has a row and when
 * a picture is drawn, and passes calls without rows in a flood.
 */
#include "recorder/live.h"
#include "area/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Where the oldest may be left out; they stay in the cache. */
	MAX_WAITING = 4096,
	PICTURE_NS = 80000000,
};

int live_init(struct live *l, const struct names *names, struct cst_error *err)
{
	*l = (struct live){.names = names};
	if (pending_init(&l->rows, names) < 0) {
		live_release(l);
		return cst_fail_memory(err);
	}
	return 0;
}

void live_release(struct live *l)
{
	filter_free(l->filter);
	where_free(l->where);
	pending_release(&l->rows);
	free(l->span.from);
	free(l->span.until);
	free(l->hides);
	*l = (struct live){0};
}

static uint64_t live_ns(const struct live *l, uint64_t ticks)
{
	return pending_ns(&l->rows, ticks);
}

static int may_leave_out(const struct live *l)
{
	return l->rows.screen.outlet.is_slow && !l->rows.is_exact;
}

/* May calls be passed in a flood?  Not where a row tells of more than of its
 * call and of who called it. */
static int may_pass(const struct live *l)
{
	return may_leave_out(l) && !l->options.min_ns && !l->options.thread &&
	       !l->where && !l->span.from && !l->span.until &&
	       filter_is_plain(l->filter);
}

/* A picture is drawn. */
static void flood_look(struct live *l)
{
	uint64_t next_row = l->rows.first + l->rows.n;

	if (next_row - l->counted_row + l->n_passed < MAX_WAITING)
		l->is_flooded = 0;
	l->counted_row = next_row;
	l->n_passed = 0;
}

static void live_write(struct live *l, uint64_t now, int is_stop,
		       int patience_ms)
{
	flood_look(l);
	pending_hand_over(&l->rows, now, is_stop);
	screen_write(&l->rows.screen, is_stop, patience_ms);
}

/* ---- rows ---------------------------------------------------------------- */

static void live_make_room(struct live *l)
{
	if (l->rows.n == PENDING_MOST)
		live_write(l, l->rows.all[l->rows.n - 1].time, 0,
			   OUTLET_FOREVER);
	else if (l->rows.n >= MAX_WAITING && may_leave_out(l)) {
		l->is_flooded = (uint8_t)may_pass(l);
		pending_leave_out(&l->rows, MAX_WAITING / 2);
	}
}

static struct pending *live_add(struct live *l, const struct thread *t,
				struct stack *s, struct open_call *o,
				enum row_kind kind)
{
	if (l->rows.n >= MAX_WAITING)
		live_make_room(l);
	return pending_add(&l->rows, t, s, o, kind);
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

void live_set_where(struct live *l, struct where *where)
{
	where_free(l->where);
	l->where = where;
}

/* What a call returns is not known when it begins. */
static int has_values(const struct live *l, const struct stack *s,
		      const struct open_call *o)
{
	const struct values *v = stack_values(s, o);

	return v && where_holds(l->where, &l->names->functions[o->function],
				v->data, v->n, 0);
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
	if (((l->span.from || l->span.until) && !span_takes(l, o)) ||
	    (l->where && o->is_visible && !has_values(l, s, o))) {
		o->is_visible = 0;
		o->below.depth = o->above.depth;
	}
}

static void live_entered(void *arg, struct thread *t, struct stack *s,
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

static void live_left(void *arg, struct thread *t, struct stack *s,
		      struct open_call *o, uint64_t end, enum call_end how)
{
	struct live *l = arg;
	struct pending *p;

	/* A row that was written before a filter hid the call is closed. */
	if (!is_shown(l, t, s, o) && !o->is_printed)
		return;
	if (o->row != no_row && o->row >= l->rows.first) {
		p = &l->rows.all[o->row - l->rows.first];
		p->kind = ROW_CALL;
		pending_close(p, s, end, how);
	} else if (o->is_printed) {
		p = live_add(l, t, s, o, ROW_CLOSE);
		p->time = end;
		pending_close(p, s, end, how);
	} else if (l->options.min_ns &&
		   live_ns(l, end - o->start) >= l->options.min_ns) {
		live_add_callers(l, t, s, (uint32_t)(o - s->calls));
		pending_close(live_add(l, t, s, o, ROW_CALL), s, end, how);
	}
}

void live_mark_ended(struct live *l, struct thread *t, struct stack *s,
		     struct open_call *o)
{
	struct pending *p;

	if (!l->filter || !o->is_listed || !is_shown(l, t, s, o) ||
	    o->row == no_row || o->row >= l->rows.first)
		return;
	p = live_add(l, t, s, o, ROW_CLOSE);
	p->time = t->last_time;
	pending_close(p, s, t->last_time, CALL_RETURN);
}

static void live_hear(struct live *l, struct callstack *c)
{
	c->listener = (struct call_listener){live_entered, live_left, l};
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
	pending_leave_out(&l->rows, l->rows.n);
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
	screen_count(&l->rows.screen, t, t->n_calls - n_calls + 1, n_rows);
	l->n_passed += n_rows;
}

/* The call is around what comes next. */
static void trail_open(struct live *l, struct stack *s, struct open_call *o)
{
	const struct screen_row row =
		pending_row(&l->rows, live_add(l, s->thread, s, o, ROW_OPEN));

	trails_follow(&l->rows.screen.trails, &row);
	pending_drop_last(&l->rows);
	o->row = no_row;
}

/* The trail is to be as if all had been heard of. */
static void stack_listen(struct live *l, struct stack *s)
{
	struct trail *trail =
		trails_of(&l->rows.screen.trails, pending_lane(&l->rows, s));
	uint32_t n = s->n, depth;

	while (n && !s->calls[n - 1].is_listed)
		n--;
	depth = depth_of(s, n);
	screen_count(&l->rows.screen, s->thread, s->thread->n_calls,
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
	return outlet_is_ready(&l->rows.screen.outlet, OUTLET_NOT);
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
	if (!l->filter || l->is_passing || l->is_held)
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
	live_write(l, now, !l->rows.is_exact,
		   l->rows.is_exact ? OUTLET_FOREVER : patience_ms);
}

void live_forget(struct live *l)
{
	l->is_passing = l->is_flooded = 0;
	pending_forget(&l->rows);
}

void live_set(struct live *l, const struct live_options *options,
	      struct filter *filter, struct callstack *c)
{
	int was_on = l->filter != NULL;

	if (was_on)
		live_write(l, 0, 1, LIVE_STOP_MS);
	filter_free(l->filter);
	l->filter = filter;
	if (l->rows.screen.look.id != options->look.id ||
	    l->rows.screen.look.thread != options->look.thread)
		l->rows.screen.cell = (struct row_cell){0};
	l->options = *options;
	l->rows.screen.look = options->look;
	outlet_turn(&l->rows.screen.outlet, options->sink, options->fd);
	l->rows.is_unordered = options->min_ns != 0;
	pending_fold(&l->rows);
	c->listener = (struct call_listener){0};
	c->shows_values = filter != NULL;
	l->is_passing = l->is_flooded = 0;
	if (!filter)
		return;
	live_hear(l, c);
	for (struct stack *s = c->stacks; s; s = s->next) {
		struct trail *trail = trails_of(&l->rows.screen.trails,
						pending_lane(&l->rows, s));

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
