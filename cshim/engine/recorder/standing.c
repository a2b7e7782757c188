/* SPDX-License-Identifier: MIT
 *
 * Where a thread stands: the calls that are open on its stack, and on the
 * stacks that this one has interrupted.
 */
#include "base/array.h"
#include "recorder/recorder.h"
#include "rows/row.h"
#include "trace/callid.h"

#include <stdlib.h>

/* The open calls, innermost first.  Borrowed from the stacks. */
struct standing {
	const struct thread *thread;
	struct standing_call {
		const struct open_call *open;
		const struct stack *stack;
	} * calls;
	uint32_t n, cap;
};

/* Returns the thread of that kernel number that has not ended, or NULL. */
static const struct thread *thread_of(const struct cst_recorder *r,
				      uint32_t tid)
{
	for (uint32_t i = r->threads.n; i-- > 0;)
		if (r->threads.all[i]->tid == tid &&
		    !r->threads.all[i]->ended_at)
			return r->threads.all[i];
	return NULL;
}

static int standing_init(struct standing *all, const struct cst_recorder *r,
			 uint32_t tid)
{
	/* A damaged record could make a ring of stacks. */
	uint32_t most = r->calls.n_extra + r->threads.n + 1;

	all->thread = thread_of(r, tid);
	if (!all->thread)
		return 0;
	for (const struct stack *s = all->thread->current; s && most--;
	     s = s->interrupted)
		for (uint32_t i = s->n; i-- > 0;) {
			if (array_room(&all->calls, &all->cap, all->n + 1ull) <
			    0)
				return CST_MEMORY;
			all->calls[all->n++] =
				(struct standing_call){&s->calls[i], s};
		}
	return 0;
}

static uint64_t ticks_ns(const struct cst_recorder *r, uint64_t from,
			 uint64_t to)
{
	uint64_t ticks = to > from ? to - from : 0;

	return pending_ns(&r->live.rows, ticks);
}

static uint64_t age_ns(const struct cst_recorder *r, const struct open_call *o,
		       uint64_t now)
{
	return ticks_ns(
		r, o->start > r->start_ticks ? o->start : r->start_ticks, now);
}

/* ---- for programs -------------------------------------------------------- */

static void fill(const struct cst_recorder *r, const struct thread *t,
		 const struct open_call *o, uint64_t now,
		 struct cst_open_call *out)
{
	const struct function *f = &r->names->functions[o->function];
	char *end;

	*out = (struct cst_open_call){
		.cfa = o->is_near ? 0 : o->cfa,
		.age_ns = age_ns(r, o, now),
		.function = f->name,
		.name = f->simple,
		.addr = f->addr,
	};
	end = callid_put_numbers(out->id, t->process + 1, t->ordinal, o->number,
				 o->is_seed);
	*end = '\0';
}

int cst_recorder_stack(struct cst_recorder *r, uint32_t tid,
		       struct cst_open_call *out, uint32_t n,
		       struct cst_error *err)
{
	struct standing all = {0};
	uint64_t now;
	int status;

	pthread_mutex_lock(&r->lock);
	now = pauses_skip(&r->pauses, clock_ticks());
	status = standing_init(&all, r, tid);
	for (uint32_t i = 0; i < all.n && i < n && status == 0; i++)
		fill(r, all.thread, all.calls[i].open, now, &out[i]);
	pthread_mutex_unlock(&r->lock);
	free(all.calls);
	return status < 0 ? cst_fail_memory(err) : (int)all.n;
}

int cst_recorder_is_in(struct cst_recorder *r, uint32_t tid, const char *word,
		       enum cst_names names, struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = word,
					  .names = (uint8_t)names};
	struct standing all = {0};
	struct filter *wanted;
	int is_in = 0, status = filter_new(&choice, &wanted, err);

	if (status < 0)
		return status;
	pthread_mutex_lock(&r->lock);
	status = standing_init(&all, r, tid);
	for (uint32_t i = 0; i < all.n && status == 0 && !is_in; i++)
		is_in = filter_excludes(wanted, r->names,
					all.calls[i].open->function);
	pthread_mutex_unlock(&r->lock);
	filter_free(wanted);
	free(all.calls);
	return status < 0 ? cst_fail_memory(err) : is_in;
}

/* ---- for people ---------------------------------------------------------- */

struct here {
	const struct cst_recorder *r;
	const struct standing *all;
	const struct cst_look *look;
	struct filter *filter;
	struct row_cell cell;
	uint64_t now;
	struct bytes out;
};

/* What the call was entered with, or NULL; drop it. */
static struct values *values_of(const struct standing_call *c)
{
	const struct values *v = stack_values(c->stack, c->open);
	const void *bytes = NULL;
	uint32_t n = 0;

	if (v)
		return values_new(v->data, v->n, NULL, 0);
	if (c->stack->lane && c->open->seq != NO_SEQ)
		bytes = lane_values_of(c->stack->lane, c->open->seq, &n);
	return bytes ? values_new(bytes, n, NULL, 0) : NULL;
}

static void put_row(struct here *h, const struct standing_call *call,
		    uint32_t from, uint32_t depth)
{
	const struct thread *t = h->all->thread;
	const struct open_call *o = call->open;
	struct values *values = values_of(call);
	char *p = (char *)bytes_reserve(&h->out, ROW_MAX);
	struct row row = {
		.kind = ROW_CALL,
		.is_seed = o->is_seed,
		.depth = depth,
		.time_ns = ticks_ns(h->r, h->r->start_ticks, o->start),
		.duration_ns = age_ns(h->r, o, h->now),
		.names = h->r->names,
		.site = o->call_site,
		.from = from,
		.process = t->process + 1,
		.thread = t->ordinal,
		.number = o->number,
		.cell = h->cell,
		.values = values,
		.thread_color = t->index,
	};

	if (h->look->timestamp == CST_TIME_WALL)
		row.time_ns += h->r->live.rows.start_wall_ns +
			       ticks_ns(h->r, 0, h->r->live.rows.paused_ticks);
	if (p)
		h->out.len += row_format(&row, h->look, p);
	values_drop(values);
}

/* Puts the visible calls, the outermost first.  Returns how many. */
static uint32_t put_rows(struct here *h)
{
	struct filter_state state = filter_root(h->filter), below;
	uint32_t n_shown = 0, hidden_from = UINT32_MAX;

	for (uint32_t i = h->all->n; i-- > 0; state = below) {
		const struct open_call *o = h->all->calls[i].open;
		uint32_t from =
			hidden_from == UINT32_MAX ? o->call_site : hidden_from;

		if (!filter_enter(h->filter, h->r->names, o->function, state,
				  &below)) {
			if (n_shown)
				hidden_from = from;
			continue;
		}
		put_row(h, &h->all->calls[i], from, state.depth);
		hidden_from = UINT32_MAX;
		n_shown++;
	}
	return n_shown;
}

static void set_cell(struct here *h)
{
	const struct thread *t = h->all->thread;
	unsigned width = 0;

	h->cell.has_threads = h->look->thread && h->r->threads.n > 1;
	if (!h->look->id && h->cell.has_threads)
		width = row_tag_width(t->process + 1, t->ordinal);
	for (uint32_t i = 0; i < h->all->n && h->look->id; i++) {
		const struct open_call *o = h->all->calls[i].open;
		unsigned id = row_id_width(t->process + 1, t->ordinal,
					   o->number, o->is_seed);

		width = id > width ? id : width;
	}
	h->cell.width = (uint8_t)width;
}

static int put_here(struct here *h)
{
	const struct thread *t = h->all->thread;
	char *p = (char *)bytes_reserve(&h->out, ROW_MAX), *begin = p;

	if (!p)
		return CST_MEMORY;
	set_cell(h);
	p += row_titles(h->look, &h->cell,
			h->look->callsite ? "OPEN CALL  (FROM)" : "OPEN CALL",
			p);
	if (h->cell.has_threads)
		p += row_note(t->process + 1, t->ordinal, t->name, t->tid,
			      h->look, p);
	h->out.len += (size_t)(p - begin);
	return (int)put_rows(h);
}

int cst_recorder_here(struct cst_recorder *r, uint32_t tid,
		      const struct cst_look *look,
		      const struct cst_choice *choice, cst_write_fn write,
		      void *arg, struct cst_thread_info *thread,
		      struct cst_error *err)
{
	struct standing all = {0};
	struct here h = {.r = r, .all = &all, .look = look};
	int n = filter_new(choice, &h.filter, err);

	if (n < 0)
		return n;
	*thread = (struct cst_thread_info){.tid = tid};
	pthread_mutex_lock(&r->lock);
	h.now = pauses_skip(&r->pauses, clock_ticks());
	n = standing_init(&all, r, tid);
	if (n == 0 && all.thread) {
		thread->process = all.thread->process + 1;
		thread->thread = all.thread->ordinal;
		thread->name = all.thread->name;
		n = put_here(&h);
	}
	pthread_mutex_unlock(&r->lock);
	if (n < 0 || h.out.failed)
		n = cst_fail_memory(err);
	else if (n && write(arg, (const char *)h.out.data, h.out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&h.out);
	filter_free(h.filter);
	free(all.calls);
	return n;
}
