/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.  A call's time counts to its
 * function's total unless the function is open below it (recursion); its self
 * time is what its visible callees leave.
 */
#include "report.h"
#include "number.h"
#include "pump.h"
#include "row.h"
#include "view.h"

#include <stdlib.h>

enum { BATCH = PUMP_BLOCK / sizeof(struct shown) };

struct total {
	uint64_t n_calls, total_ns, max_ns;
	int64_t self_ns;
	uint32_t outermost; /* depth + 1 of its outermost call, if the stack
			     * there still holds it */
	uint32_t function;
};

struct report {
	const struct cst_trace *t;
	struct view *view;
	struct total *totals; /* by function */
	uint32_t *stack;      /* functions open on the lane */
	uint32_t cap;
	uint32_t lane;
};

static int stack_room(struct report *r, uint32_t depth)
{
	uint64_t cap = (uint64_t)depth * 2 + 64;
	uint32_t *p;

	if (depth < r->cap)
		return 0;
	p = cap > UINT32_MAX ? NULL : realloc(r->stack, cap * sizeof(*p));
	if (!p)
		return -1;
	memset(p + r->cap, 0xff, (cap - r->cap) * sizeof(*p));
	r->stack = p;
	r->cap = (uint32_t)cap;
	return 0;
}

static inline int is_recursion(const struct report *r, const struct total *f,
			       uint32_t depth)
{
	return f->outermost && f->outermost <= depth &&
	       r->stack[f->outermost - 1] == f->function;
}

static int take_call(struct report *r, const struct shown *s)
{
	uint32_t id = r->t->names->sites[s->site].function;
	struct total *f = &r->totals[id];

	if (stack_room(r, s->depth) < 0)
		return CST_MEMORY;
	f->function = id;
	f->n_calls++;
	f->self_ns += (int64_t)s->duration_ns;
	if (s->duration_ns > f->max_ns)
		f->max_ns = s->duration_ns;
	if (!is_recursion(r, f, s->depth)) {
		f->total_ns += s->duration_ns;
		f->outermost = s->depth + 1;
	}
	/* The call below on the stack may be another thread's, unseen; then
	 * the entry is none. */
	if (s->depth && r->stack[s->depth - 1] != UINT32_MAX)
		r->totals[r->stack[s->depth - 1]].self_ns -=
			(int64_t)s->duration_ns;
	r->stack[s->depth] = id;
	return 0;
}

static int report_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct report *r = arg;
	uint8_t *room = bytes_reserve(out, BATCH * sizeof(struct shown));
	int n;

	if (!room)
		return cst_fail_memory(err);
	n = view_next(r->view, (struct shown *)(void *)room, BATCH, err);
	if (n < 0)
		return n;
	out->len = (size_t)n * sizeof(struct shown);
	return n == BATCH;
}

static void begin_lane(struct report *r, uint32_t lane)
{
	r->lane = lane;
	if (r->stack)
		memset(r->stack, 0xff, r->cap * sizeof(*r->stack));
}

static int report_take(void *arg, const char *text, uint64_t size)
{
	struct report *r = arg;
	const struct shown *calls = (const void *)text;

	for (uint64_t i = 0; i < size / sizeof(*calls); i++) {
		if (calls[i].lane != r->lane)
			begin_lane(r, calls[i].lane);
		if (take_call(r, &calls[i]) < 0)
			return CST_MEMORY;
	}
	return 0;
}

/* ---- rows --------------------------------------------------------------- */

static uint64_t sort_key(const struct total *f, enum cst_sort sort)
{
	switch (sort) {
	case CST_SORT_SELF:
		return f->self_ns > 0 ? (uint64_t)f->self_ns : 0;
	case CST_SORT_CALLS:
		return f->n_calls;
	case CST_SORT_MAX:
		return f->max_ns;
	default:
		return f->total_ns;
	}
}

struct rank {
	uint64_t key;
	uint32_t function;
};

static int rank_compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void put_row(const struct report *r, const struct total *f,
		    struct bytes *out)
{
	char *begin = (char *)bytes_reserve(out, ROW_MAX), *p = begin;
	uint64_t times[4] = {
		f->total_ns, f->self_ns > 0 ? (uint64_t)f->self_ns : 0,
		f->n_calls ? f->total_ns / f->n_calls : 0, f->max_ns};

	if (!begin)
		return;
	p = number_put_wide(p, f->n_calls, 10);
	for (int i = 0; i < 4; i++) {
		memcpy(p, "  ", 2);
		p = number_put_duration(p + 2, times[i]);
	}
	memcpy(p, "  ", 2);
	p = row_put_text(p + 2, r->t->names->functions[f->function].name, 4000);
	*p++ = '\n';
	out->len += (size_t)(p - begin);
}

/* The functions that have calls and match, in order. */
static int64_t rank_totals(const struct report *r, enum cst_sort sort,
			   const char *regex, struct rank *ranks,
			   struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = regex};
	const struct names *names = r->t->names;
	struct filter *filter = NULL;
	int64_t n = 0;

	if (regex && filter_new(&choice, &filter, err) < 0)
		return CST_BAD_INPUT;
	for (uint32_t i = 0; i < names->n_functions; i++) {
		if (!r->totals[i].n_calls ||
		    (filter && !filter_excludes(filter, names, i)))
			continue;
		ranks[n].key = sort_key(&r->totals[i], sort);
		ranks[n++].function = i;
	}
	filter_free(filter);
	if (n)
		qsort(ranks, (size_t)n, sizeof(*ranks), rank_compare);
	return n;
}

static int64_t put_rows(const struct report *r, enum cst_sort sort,
			uint32_t limit, const char *regex, struct bytes *out,
			struct cst_error *err)
{
	static const char heading[] =
		"#    CALLS       TOTAL        SELF        MEAN         MAX  "
		"FUNCTION\n";
	size_t size = (r->t->names->n_functions + 1) * sizeof(struct rank);
	auto_free struct rank *ranks = malloc(size);
	int64_t n;

	if (!ranks)
		return cst_fail_memory(err);
	n = rank_totals(r, sort, regex, ranks, err);
	if (n < 0)
		return n;
	if (limit && n > limit)
		n = limit;
	bytes_put(out, heading, sizeof(heading) - 1);
	for (int64_t i = 0; i < n; i++)
		put_row(r, &r->totals[ranks[i].function], out);
	return out->failed ? cst_fail_memory(err) : n;
}

static int64_t report_run(struct report *r, const struct cst_choice *choice,
			  struct cst_error *err)
{
	size_t n = r->t->names->n_functions + (size_t)1;
	int status;

	r->totals = calloc(n, sizeof(*r->totals));
	if (!r->totals)
		return cst_fail_memory(err);
	r->lane = UINT32_MAX;
	status = view_new(r->t, choice, 1, &r->view, err);
	if (status == 0)
		status = pump_run(report_fill, r, report_take, r, err);
	return status == CST_MEMORY ? cst_fail_memory(err) : status;
}

int64_t report_write(const struct cst_trace *t, enum cst_sort sort,
		     uint32_t limit, const char *regex,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err)
{
	struct report r = {.t = t};
	struct bytes out = {0};
	int64_t n = report_run(&r, choice, err);

	if (n == 0)
		n = put_rows(&r, sort, limit, regex, &out, err);
	if (n >= 0 && write(arg, (const char *)out.data, out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&out);
	view_free(r.view);
	free(r.totals);
	free(r.stack);
	return n;
}
