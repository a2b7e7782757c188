/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.  A call's time counts to its
 * function's total unless the function is open below it (recursion); its self
 * time is what its visible callees leave.  What a view would tell beside that
 * is not worked out: the calls are taken as a walk gives them.
 */
#include "report.h"
#include "number.h"
#include "pump.h"
#include "row.h"
#include "view.h"

#include <stdlib.h>

enum {
	NO_FUNCTION = UINT32_MAX,
	/* The runs in the pump, one in hand and one in the making. */
	N_RUNS = PUMP_BLOCKS + 2,
};

struct total {
	uint64_t n_calls, total_ns, max_ns;
	int64_t self_ns;
	uint32_t outermost; /* level of its outermost call, if it is still
			     * open there */
	uint8_t verdict;    /* where it depends on the function alone */
};

enum { UNKNOWN = 0, VISIBLE = 1, HIDDEN = 2 };

/* What an open call hands down. */
struct level {
	struct filter_state below;
	uint32_t function; /* the nearest visible call's, or NO_FUNCTION */
};

struct report {
	const struct cst_trace *t;
	struct filter *filter;
	uint64_t min_ns;
	uint32_t only_thread; /* ordinal, or 0 */
	uint8_t is_plain;     /* no filter that looks at the callers */
	struct total *totals; /* by function */
	struct level *levels; /* levels[0] is the root: calls start at 1 */
	uint32_t cap;

	/* The thread that unpacks. */
	struct walk *walk;
	struct unpacked runs[N_RUNS]; /* the last ones' memory, in turn */
	uint32_t n_runs;
};

static int levels_room(struct report *r, uint32_t depth)
{
	uint64_t cap = (uint64_t)depth * 2 + 64;
	struct level *p;

	if (depth + 1 < r->cap)
		return 0;
	p = cap > UINT32_MAX ? NULL : realloc(r->levels, cap * sizeof(*p));
	if (!p)
		return -1;
	p[0] = (struct level){filter_root(r->filter), NO_FUNCTION};
	r->levels = p;
	r->cap = (uint32_t)cap;
	return 0;
}

static int is_visible(struct report *r, uint32_t id, const struct level *above,
		      struct level *here)
{
	uint8_t *verdict = &r->totals[id].verdict;

	if (!r->is_plain)
		return filter_enter(r->filter, r->t->names, id, above->below,
				    &here->below);
	if (*verdict == UNKNOWN)
		*verdict = filter_enter(r->filter, r->t->names, id,
					filter_root(r->filter), &here->below)
				   ? VISIBLE
				   : HIDDEN;
	return *verdict == VISIBLE;
}

static inline void count_call(struct report *r, uint32_t id, uint64_t ns,
			      uint32_t level)
{
	uint32_t caller = r->levels[level - 1].function;
	struct total *f = &r->totals[id];

	f->n_calls++;
	/* Made-up durations may add up to anything. */
	f->self_ns = (int64_t)((uint64_t)f->self_ns + ns);
	if (ns > f->max_ns)
		f->max_ns = ns;
	if (!f->outermost || f->outermost >= level ||
	    r->levels[f->outermost].function != id) {
		f->total_ns += ns;
		f->outermost = level;
	}
	if (caller != NO_FUNCTION)
		r->totals[caller].self_ns =
			(int64_t)((uint64_t)r->totals[caller].self_ns - ns);
	r->levels[level].function = id;
}

static inline int take_call(struct report *r, const struct packed_call *c,
			    int seen)
{
	uint32_t id = r->t->names->sites[c->site].function;
	struct level *above, *here;
	uint64_t ns;

	if (levels_room(r, c->depth) < 0)
		return CST_MEMORY;
	above = &r->levels[c->depth];
	here = above + 1;
	here->function = above->function;
	if (!is_visible(r, id, above, here))
		return 0;
	ns = call_duration_ns(r->t, c);
	if (ns < r->min_ns)
		here->below.depth = r->is_plain ? 0 : above->below.depth;
	else if (seen)
		count_call(r, id, ns, c->depth + 1);
	else
		here->function = NO_FUNCTION;
	return 0;
}

static int report_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct report *r = arg;
	struct run run;
	int got = walk_next(r->walk, &run, err);

	if (got <= 0)
		return got;
	walk_swap(r->walk, &run, &r->runs[r->n_runs++ % N_RUNS]);
	bytes_put(out, &run, sizeof(run));
	return out->failed ? cst_fail_memory(err) : 1;
}

static int is_seen(const struct report *r, uint32_t thread)
{
	return !r->only_thread ||
	       r->t->threads[thread].ordinal == r->only_thread;
}

static int report_take(void *arg, const char *text, uint64_t size)
{
	struct report *r = arg;
	struct run run;
	int seen;

	(void)size;
	memcpy(&run, text, sizeof(run));
	seen = is_seen(r, run.thread);
	for (uint32_t i = 0; i < run.n; i++) {
		if (run.threads)
			seen = is_seen(r, run.threads[i]);
		if (take_call(r, &run.calls[i], seen) < 0)
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

static void put_row(const struct report *r, uint32_t id, struct bytes *out)
{
	const struct total *f = &r->totals[id];
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
	p = row_put_text(p + 2, r->t->names->functions[id].name, 4000);
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
		put_row(r, ranks[i].function, out);
	return out->failed ? cst_fail_memory(err) : n;
}

static int64_t report_run(struct report *r, const struct cst_choice *choice,
			  struct cst_error *err)
{
	size_t n = r->t->names->n_functions + (size_t)1;
	int status = view_check(r->t, choice, err);

	r->min_ns = choice->min_ns;
	r->only_thread = choice->thread;
	r->is_plain = !choice->filter && !choice->depth;
	r->totals = calloc(n, sizeof(*r->totals));
	if (status == 0 && !r->totals)
		status = cst_fail_memory(err);
	if (status == 0)
		status = filter_new(choice, &r->filter, err);
	if (status == 0)
		status = walk_new(r->t, 1, &r->walk, err);
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
	for (int i = 0; i < N_RUNS; i++)
		unpacked_release(&r.runs[i]);
	walk_free(r.walk);
	filter_free(r.filter);
	free(r.totals);
	free(r.levels);
	return n;
}
