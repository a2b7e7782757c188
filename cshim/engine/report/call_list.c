/* SPDX-License-Identifier: MIT
 *
 * In order of time rows are written as the calls are read.  Any other order
 * needs them all, or those that come first: no more than twice the limit of
 * them are in memory.
 */
#include "report/call_list.h"
#include "base/array.h"
#include "base/number.h"
#include "names/sheet.h"
#include "names/values_json.h"
#include "rows/row.h"
#include "rows/wall.h"
#include "trace/answer.h"
#include "trace/callid.h"
#include "trace/window.h"

#include <stdlib.h>

enum {
	WRITE_BYTES = 64 * 1024,
	LEAST_KEPT = 1024, /* fewer calls are never cut to the limit */
};

enum verdict { UNKNOWN = 0, WANTED, NOT_WANTED };

/* A call that waits for its place in the order. */
struct kept {
	struct shown call;
	uint64_t order; /* of time */
};

struct call_list {
	const struct cst_trace *t;
	const struct cst_calls *calls;
	const struct cst_look *look;
	struct cst_choice choice;      /* with `under` in it */
	struct filter *wanted, *above; /* above: NULL, or what `under` names */
	struct callid root;	       /* the call that `under` names */
	uint8_t has_root;
	uint8_t *verdicts; /* by function */
	struct kept *kept;
	uint32_t n_kept, cap;
	uint64_t n_found, n_rows;
	cst_write_fn write;
	void *arg;
	struct bytes out;
	struct sheet sheet;
	/* For rows of text. */
	struct row_cell cell;
	struct wall wall;
	uint8_t *is_noted; /* by thread */
	uint8_t has_stop_note;
};

/* ---- the calls that are wanted ------------------------------------------- */

static uint32_t function_of(const struct call_list *l, const struct shown *s)
{
	return l->t->names->sites[s->site].function;
}

static int is_root(const struct call_list *l, const struct shown *s)
{
	const struct trace_thread *thread = &l->t->threads[s->thread];

	return l->has_root && s->number == l->root.number &&
	       s->is_seed == l->root.is_seed &&
	       thread->ordinal == l->root.thread &&
	       thread->process == l->root.process;
}

static int is_wanted(struct call_list *l, const struct shown *s)
{
	uint32_t function = function_of(l, s);
	uint8_t *verdict = &l->verdicts[function];

	if (*verdict == UNKNOWN)
		*verdict = !l->calls->function || filter_excludes(l->wanted,
								  l->t->names,
								  function)
				   ? WANTED
				   : NOT_WANTED;
	if (*verdict == NOT_WANTED || s->is_before || is_root(l, s) ||
	    (l->calls->is_ended && s->end == CALL_OPEN))
		return 0;
	/* The outermost call of what `under` names lies beneath none of it. */
	return !l->above || s->depth ||
	       !filter_excludes(l->above, l->t->names, function);
}

/* ---- order --------------------------------------------------------------- */

struct order {
	const struct cst_trace *t;
	enum cst_calls_sort sort;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_threads(const struct cst_trace *t, const struct shown *a,
			   const struct shown *b)
{
	const struct trace_thread *x = &t->threads[a->thread];
	const struct trace_thread *y = &t->threads[b->thread];
	int order = compare(x->process, y->process);

	return order ? order : compare(x->ordinal, y->ordinal);
}

static int compare_ids(const struct cst_trace *t, const struct shown *a,
		       const struct shown *b)
{
	int order = compare_threads(t, a, b);

	if (!order)
		order = compare(b->is_seed, a->is_seed);
	return order ? order : compare(a->number, b->number);
}

static const char *caller_of(const struct cst_trace *t, const struct shown *s)
{
	return s->caller == CALLER_NONE ? ""
					: t->names->functions[s->caller].simple;
}

/* The callers by name, and by line. */
static int compare_callers(const struct cst_trace *t, const struct shown *a,
			   const struct shown *b)
{
	int order = strcmp(caller_of(t, a), caller_of(t, b));

	return order ? order
		     : compare(t->names->sites[a->from].line,
			       t->names->sites[b->from].line);
}

static int kept_compare(const void *a, const void *b, void *arg)
{
	const struct kept *x = a, *y = b;
	const struct order *o = arg;
	int order = 0;

	switch (o->sort) {
	case CST_CALLS_BY_DURATION:
		order = compare(y->call.duration_ns, x->call.duration_ns);
		break;
	case CST_CALLS_BY_ID:
		order = compare_ids(o->t, &x->call, &y->call);
		break;
	case CST_CALLS_BY_CALLER:
		order = compare_callers(o->t, &x->call, &y->call);
		break;
	case CST_CALLS_BY_THREAD:
		order = compare_threads(o->t, &x->call, &y->call);
		break;
	case CST_CALLS_BY_TIME:
		break;
	}
	return order ? order : compare(x->order, y->order);
}

static void sort_kept(struct call_list *l)
{
	struct order order = {l->t, (enum cst_calls_sort)l->calls->sort};

	if (l->n_kept)
		qsort_r(l->kept, l->n_kept, sizeof(*l->kept), kept_compare,
			&order);
}

static void drop_kept(struct call_list *l, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		values_drop(l->kept[from].call.values);
}

/* Drops all but the last n of them, which are in the order of time. */
static void keep_last(struct call_list *l, uint64_t n)
{
	uint32_t drop = l->n_kept > n ? l->n_kept - (uint32_t)n : 0;

	drop_kept(l, 0, drop);
	l->n_kept -= drop;
	if (drop)
		memmove(l->kept, l->kept + drop, l->n_kept * sizeof(*l->kept));
}

/* Drops what cannot come into the list any more. */
static void cut_kept(struct call_list *l)
{
	uint64_t last = l->choice.last, limit = l->calls->limit;

	if (last && l->n_kept / 2 >= last && l->n_kept >= LEAST_KEPT) {
		keep_last(l, last);
	} else if (!last && limit && l->n_kept / 2 >= limit &&
		   l->n_kept >= LEAST_KEPT) {
		sort_kept(l);
		drop_kept(l, (uint32_t)limit, l->n_kept);
		l->n_kept = (uint32_t)limit;
	}
}

static int keep(struct call_list *l, const struct shown *s)
{
	cut_kept(l);
	if (array_room(&l->kept, &l->cap, l->n_kept + 1ull) < 0)
		return CST_MEMORY;
	l->kept[l->n_kept] = (struct kept){*s, l->n_found};
	l->kept[l->n_kept].call.values = values_keep(s->values);
	l->n_kept++;
	return s->values && !l->kept[l->n_kept - 1].call.values ? CST_MEMORY
								: 0;
}

/* ---- text ---------------------------------------------------------------- */

static void put_heading(struct call_list *l)
{
	char *p = (char *)bytes_reserve(&l->out, ROW_MAX);

	if (p)
		l->out.len += row_titles(l->look, &l->cell, "CALL  (FROM)", p);
}

static char *put_notes(struct call_list *l, const struct shown *s, char *p)
{
	const struct trace_thread *t = &l->t->threads[s->thread];

	if (l->cell.has_threads && !l->is_noted[s->thread]) {
		l->is_noted[s->thread] = 1;
		p += row_note(t->process, t->ordinal, t->name, t->tid, l->look,
			      p);
	}
	if (shown_is_stopped(s) && l->look->duration && !l->has_stop_note) {
		l->has_stop_note = 1;
		p += row_stop_note(p);
	}
	return p;
}

static void put_text(struct call_list *l, const struct shown *s)
{
	const struct trace_thread *thread = &l->t->threads[s->thread];
	char *begin = (char *)bytes_reserve(&l->out, 3 * ROW_MAX), *p = begin;
	struct row row = {
		.kind = s->end == CALL_OPEN ? ROW_OPEN : ROW_CALL,
		.is_unwound = s->end == CALL_UNWOUND,
		.is_estimated = s->end == CALL_ESTIMATED,
		.is_seed = s->is_seed,
		.is_stopped = shown_is_stopped(s),
		.is_vetoed = shown_is_vetoed(l->t, s),
		.values = s->values,
		.time_ns = s->start_ns,
		.duration_ns = s->duration_ns,
		.names = l->t->names,
		.site = s->site,
		.from = s->from,
		.caller = s->caller == CALLER_NONE ? 0 : s->caller + 1,
		.process = thread->process,
		.thread = thread->ordinal,
		.number = s->number,
		.cell = l->cell,
		.thread_color = s->thread,
	};

	if (!begin)
		return;
	if (l->look->timestamp == CST_TIME_WALL)
		row.time_ns = wall_ns(&l->wall, s->start_ns);
	p = put_notes(l, s, p);
	p += row_format(&row, l->look, p);
	l->out.len += (size_t)(p - begin);
}

static void put_left_out(struct call_list *l)
{
	char *begin = (char *)bytes_reserve(&l->out, 128), *p = begin;

	if (!begin || !l->calls->function || l->n_rows >= l->n_found)
		return;
	p = stpcpy(p, "# ");
	p = number_put(p, l->n_rows);
	p = stpcpy(p, " of ");
	p = number_put(p, l->n_found);
	p = stpcpy(p, " calls\n");
	l->out.len += (size_t)(p - begin);
}

/* ---- cells --------------------------------------------------------------- */

static const char *const columns[] = {
	"id",	  "process", "thread",	 "start_ns",	"duration_ns",
	"end",	  "stopped", "function", "name",	"symbol",
	"module", "parent",  "caller",	 "caller_name", "file",
	"line",	  "args",    "result",	 NULL,
};

static void put_id(struct call_list *l, uint32_t thread, uint64_t number,
		   int is_seed)
{
	char id[CALLID_MAX + 1];

	*callid_put(id, &l->t->threads[thread], number, is_seed) = '\0';
	sheet_text(&l->sheet, id);
}

static const char *end_word(const struct shown *s)
{
	return s->end == CALL_OPEN	  ? "open"
	       : s->end == CALL_UNWOUND	  ? "unwound"
	       : s->end == CALL_ESTIMATED ? "estimated"
					  : "return";
}

/* Puts the text as a cell, null if there is none, and empties it. */
static void put_json(struct call_list *l, struct bytes *text)
{
	int has_text = text->len > 0;

	bytes_put_byte(text, '\0');
	sheet_json(&l->sheet,
		   has_text && !text->failed ? (const char *)text->data : NULL);
	l->out.failed |= text->failed;
	text->len = 0;
}

/* The values at the entry as an object, or the one at the end. */
static void put_values(struct call_list *l, const struct function *f,
		       const struct values *v)
{
	struct bytes text = {0};
	struct value result;

	if (v && v->n)
		values_put_json(&text, v->data, v->n, f->values);
	put_json(l, &text);
	if (values_result(v, f->values, &result))
		value_put_json(&text, &result);
	put_json(l, &text);
	bytes_release(&text);
}

static void put_cells(struct call_list *l, const struct shown *s)
{
	const struct names *names = l->t->names;
	const struct trace_thread *thread = &l->t->threads[s->thread];
	const struct function *f = &names->functions[function_of(l, s)];
	const struct function *caller =
		s->caller == CALLER_NONE ? NULL : &names->functions[s->caller];
	const struct call_site *from = &names->sites[s->from];
	struct sheet *sheet = &l->sheet;

	put_id(l, s->thread, s->number, s->is_seed);
	sheet_number(sheet, thread->pid);
	sheet_number(sheet, thread->tid);
	if (s->is_seed)
		sheet_null(sheet);
	else
		sheet_number(sheet, s->start_ns);
	if (s->end == CALL_OPEN)
		sheet_null(sheet);
	else
		sheet_number(sheet, s->duration_ns);
	sheet_text(sheet, end_word(s));
	sheet_truth(sheet, shown_is_stopped(s));
	sheet_text(sheet, f->name);
	sheet_text(sheet, f->simple);
	sheet_text(sheet, f->symbol);
	sheet_text(sheet, f->module);
	if (s->parent == PARENT_NONE)
		sheet_null(sheet);
	else
		put_id(l, s->parent_thread, s->parent_number,
		       s->parent == PARENT_SEED);
	sheet_text(sheet, caller ? caller->name : NULL);
	sheet_text(sheet, caller ? caller->simple : NULL);
	sheet_text(sheet, from->file);
	if (from->file && from->line)
		sheet_number(sheet, from->line);
	else
		sheet_null(sheet);
	put_values(l, f, s->values);
}

/* ---- the whole ----------------------------------------------------------- */

static int flush(struct call_list *l, size_t enough, struct cst_error *err)
{
	int status = 0;

	if (l->out.failed)
		return cst_fail_memory(err);
	if (l->out.len && l->out.len >= enough) {
		status =
			l->write(l->arg, (const char *)l->out.data, l->out.len);
		l->out.len = 0;
	}
	return status < 0 ? cst_fail(CST_INTERRUPTED, err, "interrupted") : 0;
}

static int put_call(struct call_list *l, const struct shown *s,
		    struct cst_error *err)
{
	if (l->calls->limit && l->n_rows >= l->calls->limit)
		return 0;
	/* A list without rows has no heading as text. */
	if (!l->n_rows++ && !l->calls->output)
		put_heading(l);
	if (l->calls->output)
		put_cells(l, s);
	else
		put_text(l, s);
	return flush(l, WRITE_BYTES, err);
}

static int is_streamed(const struct call_list *l)
{
	return l->calls->sort == CST_CALLS_BY_TIME && !l->choice.last;
}

static int read_calls(struct call_list *l, struct cst_error *err)
{
	struct view *view = NULL;
	struct shown *s;
	struct window window = {0};
	struct cst_choice last = l->choice;
	int status = 0;

	/* The last calls of all functions lie close to the end. */
	last.last += l->t->status.n_open + l->t->status.n_seeds;
	if (!l->calls->function && l->choice.last)
		status = window_init(&window, l->t, &last, err);
	if (status == 0)
		status = view_new_part(l->t, &l->choice, &window.part, 0, &view,
				       err);
	if (status == 0)
		view_hide_instants(view);

	while (status == 0 && (status = view_next(view, &s, err)) > 0) {
		status = 0;
		if (!is_wanted(l, s))
			continue;
		l->n_found++;
		if (is_streamed(l))
			status = put_call(l, s, err);
		else if (keep(l, s) < 0)
			status = cst_fail_memory(err);
	}
	view_free(view);
	window_release(&window);
	return status;
}

static int put_kept(struct call_list *l, struct cst_error *err)
{
	int status = 0;

	if (l->choice.last)
		keep_last(l, l->choice.last);
	sort_kept(l);
	for (uint32_t i = 0; i < l->n_kept && status == 0; i++)
		status = put_call(l, &l->kept[i].call, err);
	return status;
}

static int list_put(struct call_list *l, struct cst_error *err)
{
	int status;

	if (l->calls->output) {
		sheet_begin(&l->sheet, (enum cst_output)l->calls->output,
			    &l->out);
		sheet_table(&l->sheet, "rows", columns);
	}
	status = read_calls(l, err);
	if (status == 0)
		status = put_kept(l, err);
	if (status < 0)
		return status;
	if (l->calls->output) {
		sheet_table_end(&l->sheet);
		sheet_end(&l->sheet);
	} else {
		put_left_out(l);
	}
	return flush(l, 0, err);
}

/* What `under` says, as part of the choice. */
static int under_init(struct call_list *l, struct cst_error *err)
{
	const char *under = l->calls->under;
	const struct cst_choice above = {.exclude = under,
					 .names = l->choice.names};

	if (!under)
		return 0;
	if (filter_is_id(under)) {
		l->has_root = 1;
		l->choice.root = under;
		return callid_parse(under, &l->root, err);
	}
	l->choice.filter = under;
	return filter_new(&above, &l->above, err);
}

static int list_init(struct call_list *l, struct cst_error *err)
{
	const struct cst_choice wanted = {.exclude = l->calls->function,
					  .names = l->choice.names};
	const struct cst_trace *t = l->t;
	int status = filter_new(&wanted, &l->wanted, err);

	if (status == 0)
		status = under_init(l, err);
	if (status < 0)
		return status;
	l->verdicts = calloc(t->names->n_functions + (size_t)1, 1);
	l->is_noted = calloc(t->n_threads + (size_t)1, 1);
	if (!l->verdicts || !l->is_noted || wall_init(&l->wall, t) < 0)
		return cst_fail_memory(err);
	l->cell = row_cell_of(t, l->look);
	return 0;
}

/* Returns whether a wanted function is hidden only for being the C++
 * library's. */
static int hides_std(struct call_list *l)
{
	const struct names *names = l->t->names;
	struct filter *filter;
	int hides = 0;

	if (filter_new(&l->choice, &filter, NULL) < 0)
		return 0;
	for (uint32_t i = 0; i < names->n_functions && !hides; i++)
		hides = filter_excludes(l->wanted, names, i) &&
			filter_hides_std(filter, names, i);
	filter_free(filter);
	return hides;
}

int64_t call_list_write(const struct cst_trace *t,
			const struct cst_calls *calls,
			const struct cst_look *look,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err)
{
	const struct cst_look fitting = row_look(look);
	struct call_list l = {.t = t,
			      .calls = calls,
			      .look = &fitting,
			      .choice = *choice,
			      .write = write,
			      .arg = arg};
	int64_t n = list_init(&l, err);
	uint64_t n_std;

	if (n == 0)
		n = list_put(&l, err);
	n_std = n == 0 && !l.n_found && hides_std(&l);
	/* Which calls the choice hides says little about those of one
	 * function. */
	answer_set(t->answer, l.n_found, n_std, 0);
	filter_free(l.wanted);
	filter_free(l.above);
	wall_release(&l.wall);
	bytes_release(&l.out);
	free(l.verdicts);
	free(l.is_noted);
	drop_kept(&l, 0, l.n_kept);
	free(l.kept);
	return n < 0 ? n : (int64_t)l.n_rows;
}
