/* SPDX-License-Identifier: MIT
 *
 * Keeps rows until they go to the screen, as they are or through a fold, and
 * drops those that are left out.
 */
#include "recorder/pending.h"
#include "names/marks.h"
#include "rows/fold_live.h"

#include <stdlib.h>
#include <string.h>

/* In place of what unwound a call: a callback vetoed it. */
static const uint32_t VETOED = UINT32_MAX;

/* Begins of asynchronous spans, ended or not, that are remembered. */
enum { ASYNC_MOST = 1 << 20 };

static void rows_drop(struct pending *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		values_drop(rows[i].values);
}

int pending_init(struct pending_rows *w, const struct names *names)
{
	*w = (struct pending_rows){.names = names};
	screen_init(&w->screen, names);
	w->all = malloc(PENDING_MOST * sizeof(*w->all));
	return w->all ? 0 : CST_MEMORY;
}

void pending_release(struct pending_rows *w)
{
	fold_free(w->fold);
	hashmap_release(&w->stacks);
	async_spans_release(&w->async);
	screen_release(&w->screen);
	if (w->all)
		rows_drop(w->all, w->n);
	free(w->all);
	*w = (struct pending_rows){0};
}

void pending_forget(struct pending_rows *w)
{
	rows_drop(w->all, w->n);
	w->first += w->n;
	w->n = 0;
	screen_clear(&w->screen);
	hashmap_release(&w->stacks);
	w->n_stacks = 0;
	async_spans_release(&w->async);
	pending_fold(w);
}

static uint64_t time_ns(const struct pending_rows *w, uint64_t ticks)
{
	uint64_t since = ticks > w->start_ticks ? ticks - w->start_ticks : 0;

	if (w->screen.look.timestamp == CST_TIME_WALL)
		return w->start_wall_ns +
		       pending_ns(w, since + w->paused_ticks);
	return pending_ns(w, since);
}

/* ---- from what is pending to the screen ---------------------------------- */

uint32_t pending_lane(struct pending_rows *w, const struct stack *s)
{
	uint32_t *known = hashmap_get(&w->stacks, (uintptr_t)s);

	if (known)
		return *known;
	hashmap_put(&w->stacks, (uintptr_t)s, w->n_stacks);
	return w->n_stacks++;
}

static uint8_t was_stopped(const struct pending_rows *w,
			   const struct pending *p)
{
	return p->kind != ROW_OPEN && w->pauses &&
	       pauses_are_within(w->pauses, p->start, p->end);
}

struct screen_row pending_row(struct pending_rows *w, const struct pending *p)
{
	return (struct screen_row){
		.at = pending_ns(w, p->time - w->start_ticks),
		.time_ns = time_ns(w, p->time),
		.duration_ns = pending_ns(w, p->end - p->start),
		.number = p->number,
		.n_calls = 1,
		.thread = p->thread,
		.lane = pending_lane(w, p->stack),
		.site = p->site,
		.from = p->from,
		.depth = p->depth,
		.kind = p->kind,
		.is_unwound = p->is_unwound,
		.is_estimated = p->is_estimated,
		.is_vetoed = p->is_vetoed,
		.values = p->values,
		.is_seed = p->is_seed,
		.is_stopped = was_stopped(w, p),
	};
}

static void drop_front(struct pending_rows *w, uint32_t n)
{
	rows_drop(w->all, n);
	w->first += n;
	w->n -= n;
	memmove(w->all, w->all + n, w->n * sizeof(*w->all));
}

/* ---- folding --------------------------------------------------------------
 */

static int put_folded(void *arg, const struct folded *folded)
{
	struct pending_rows *w = arg;
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
		.is_estimated = call->end == CALL_ESTIMATED,
		.is_vetoed = call->thrown == VETOED,
		.values = call->values,
		.has_other_values = folded->has_other_values,
		.is_seed = call->is_seed,
		.is_stopped = shown_is_stopped(call),
	};

	if (folded->is_early && !screen_may_count(&w->screen))
		return FOLD_LATER;
	if (folded->is_count)
		row.kind = ROW_COUNT;
	if (folded->is_close) {
		row.kind = ROW_CLOSE;
		row.time_ns = row.at += call->duration_ns;
	}
	if (w->screen.look.timestamp == CST_TIME_WALL)
		row.time_ns +=
			w->start_wall_ns + pending_ns(w, w->paused_ticks);
	if (screen_add_behind(&w->screen, &row) < 0)
		screen_pass(&w->screen, &row);
	return 0;
}

static uint64_t since_begin_ns(const struct pending_rows *w, uint64_t ticks)
{
	return ticks > w->start_ticks ? pending_ns(w, ticks - w->start_ticks)
				      : 0;
}

static int fold_pending(struct pending_rows *w, const struct pending *p)
{
	const struct shown call = {
		.start_ns = since_begin_ns(w, p->kind == ROW_CLOSE ? p->start
								   : p->time),
		.duration_ns = pending_ns(w, p->end - p->start),
		.number = p->number,
		.thread = p->thread->index,
		.lane = pending_lane(w, p->stack),
		.site = p->site,
		.from = p->from,
		.depth = p->depth,
		.end = p->kind == ROW_OPEN ? CALL_OPEN
		       : p->is_unwound	   ? CALL_UNWOUND
		       : p->is_estimated   ? CALL_ESTIMATED
					   : CALL_RETURN,
		.thrown = p->is_vetoed ? VETOED : 0,
		.values = p->values,
		.is_seed = p->is_seed,
		.n_stops = was_stopped(w, p),
		.is_marked = !p->is_seed &&
			     marks_of(w->names, p->thread->process + 1,
				      p->thread->ordinal, p->number) != 0,
	};
	uint64_t cookie = (uintptr_t)p->thread;

	return p->kind == ROW_CLOSE ? fold_close(w->fold, &call, cookie)
				    : fold_add(w->fold, &call, cookie);
}

void pending_fold(struct pending_rows *w)
{
	fold_free(w->fold);
	w->fold = NULL;
	w->screen.is_folded = w->screen.look.fold && !w->is_exact;
	if (!w->screen.is_folded)
		return;
	w->fold = fold_new(w->names, put_folded, w);
	if (w->fold)
		fold_live(w->fold);
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

/* ---- asynchronous spans ----------------------------------------------------
 */

static const struct function *function_of(const struct pending_rows *w,
					  const struct pending *p)
{
	return &w->names->functions[w->names->sites[p->site].function];
}

static int async_order(const void *a, const void *b)
{
	const struct pending *x = *(const struct pending *const *)a;
	const struct pending *y = *(const struct pending *const *)b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Takes a begin or an end, of those that come in order of time. */
static int pair_async(struct pending_rows *w, struct pending *p)
{
	const struct function *f = function_of(w, p);
	uint64_t key = async_spans_key(p->thread->process, f, p->values->data,
				       p->values->n);
	uint64_t began;

	if (!key)
		return 0;
	if (f->kind == KIND_ASYNC)
		return async_spans_begin(&w->async, key, p->time);
	if (async_spans_end(&w->async, key, &began))
		p->start = began;
	return 0;
}

/* The row of an end has the time since the begin, of whichever thread. */
static void pair_asyncs(struct pending_rows *w)
{
	auto_free struct pending **all = malloc(w->n * sizeof(*all) + 1);
	uint32_t n = 0;
	int status = all ? 0 : CST_MEMORY;

	for (uint32_t i = 0; i < w->n && !status; i++)
		if (w->all[i].values &&
		    function_is_async(function_of(w, &w->all[i])))
			all[n++] = &w->all[i];
	if (n)
		qsort(all, n, sizeof(*all), async_order);
	for (uint32_t i = 0; i < n && !status; i++)
		status = pair_async(w, all[i]);
	/* Spans whose ends were never seen are forgotten some time. */
	if (status || w->async.n > ASYNC_MOST)
		async_spans_release(&w->async);
}

void pending_hand_over(struct pending_rows *w, uint64_t now, int is_stop)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct pending *p = &w->all[i];

		if (p->kind == ROW_OPEN)
			p->stack->calls[p->index].is_printed = 1;
	}
	if (w->has_async && w->n)
		pair_asyncs(w);
	if (w->fold && w->is_unordered && w->n)
		qsort(w->all, w->n, sizeof(*w->all), time_order);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct pending *p = &w->all[i];
		const struct screen_row row = pending_row(w, p);

		/* Without memory it is a row that is left out. */
		if ((w->fold ? fold_pending(w, p)
			     : screen_add(&w->screen, &row)) < 0)
			screen_pass(&w->screen, &row);
	}
	drop_front(w, w->n);
	if (w->fold)
		fold_show(w->fold, since_begin_ns(w, now), is_stop);
}

void pending_leave_out(struct pending_rows *w, uint32_t n)
{
	if (w->fold)
		fold_forget(w->fold);
	pending_fold(w);
	screen_leave_out(&w->screen);
	for (uint32_t i = 0; i < n; i++) {
		const struct pending *p = &w->all[i];
		const struct screen_row row = pending_row(w, p);

		if (p->kind == ROW_OPEN)
			p->stack->calls[p->index].is_printed = 1;
		screen_pass(&w->screen, &row);
	}
	drop_front(w, n);
}

struct pending *pending_add(struct pending_rows *w, const struct thread *t,
			    struct stack *s, struct open_call *o,
			    enum row_kind kind)
{
	struct pending *p;

	p = &w->all[w->n];
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
	w->has_async |= w->names->functions[o->function].kind == KIND_ASYNC;
	o->row = w->first + w->n++;
	return p;
}

void pending_close(struct pending *p, const struct stack *s, uint64_t end,
		   enum call_end how)
{
	const struct values *v = p->values, *result = s->result;

	p->end = end;
	p->is_unwound = how == CALL_UNWOUND;
	p->is_estimated = how == CALL_ESTIMATED;
	p->is_vetoed = s->is_vetoed;
	if (!result)
		return;
	p->values = values_new(v ? v->data : NULL, v ? v->n : 0, result->data,
			       result->n);
	values_drop(v);
}

void pending_drop_last(struct pending_rows *w)
{
	w->first++;
	rows_drop(&w->all[--w->n], 1);
}
