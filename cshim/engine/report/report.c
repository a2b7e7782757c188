/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.  A call's time counts to its
 * function's total unless the function is open below it (recursion); its self
 * time is what its visible callees leave.  What a view would tell beside that
 * is not worked out: the calls are taken as a walk gives them.
 */
#include "report/report.h"
#include "base/array.h"
#include "base/pipeline.h"
#include "report/report_rows.h"
#include "trace/answer.h"
#include "trace/async_times.h"
#include "trace/thread_choice.h"
#include "trace/view.h"

#include <stdlib.h>

enum {
	/* The runs in the pump, one in hand and one in the making. */
	N_RUNS = PUMP_BLOCKS + 2,
};

enum verdict { UNKNOWN = 0, VISIBLE, HIDDEN };

/* What is the same for all calls of a site. */
struct site {
	uint32_t function, key;
	uint8_t verdict;    /* where it depends on the function alone */
	uint8_t is_subject; /* the report asks for its callers or callees */
	uint8_t is_async;   /* it begins a span that may end elsewhere */
	uint8_t is_message; /* it is a message or a counter */
};

enum relation { OF_ALL, OF_CALLERS, OF_CALLEES };

/* What an open call hands down. */
struct level {
	struct filter_state below;
	/* The nearest visible call's key, or NO_KEY, and the key that it was
	 * counted under. */
	uint32_t key, counted;
	uint8_t is_subject;
};

struct report {
	const struct cst_trace *t;
	struct filter *filter;
	uint64_t min_ns;
	struct where *where; /* or NULL */
	struct walk_part range;
	struct thread_choice threads;
	struct span span;
	uint64_t n_shown, n_std;
	uint8_t is_plain; /* no filter that looks at the callers */
	uint8_t is_by_thread;
	enum relation relation;
	struct keys keys;
	struct site *sites;
	struct total *totals; /* by key, and one for no key */
	struct messages messages;
	struct level *levels; /* levels[0] is the root: calls start at 1 */
	uint32_t cap;

	/* The thread that unpacks. */
	struct walk *walk;
	struct unpacked runs[N_RUNS]; /* the last ones' memory, in turn */
	uint32_t n_runs;
};

static int levels_room(struct report *r, uint32_t depth)
{
	if (array_room(&r->levels, &r->cap, depth + 2ull) < 0)
		return CST_MEMORY;
	r->levels[0] =
		(struct level){filter_root(r->filter), NO_KEY, NO_KEY, 0};
	return 0;
}

static int is_visible(struct report *r, struct site *site,
		      const struct level *above, struct level *here)
{
	if (!r->is_plain && site->verdict != HIDDEN)
		return filter_enter(r->filter, r->t->names, site->function,
				    above->below, &here->below);
	if (site->verdict == UNKNOWN)
		site->verdict =
			filter_enter(r->filter, r->t->names, site->function,
				     filter_root(r->filter), &here->below)
				? VISIBLE
				: HIDDEN;
	return site->verdict == VISIBLE;
}

/* The key to count a call under; NO_KEY: not at all. */
static inline uint32_t row_of(const struct report *r, const struct site *site,
			      const struct level *above)
{
	if (r->relation == OF_ALL)
		return site->key;
	if (r->relation == OF_CALLEES)
		return above->is_subject ? site->key : NO_KEY;
	if (!site->is_subject)
		return NO_KEY;
	return above->key == NO_KEY ? r->keys.n : above->key;
}

static inline void see_call(struct report *r, const struct site *site,
			    uint32_t thread, uint64_t ns, uint32_t n_stops,
			    uint32_t level)
{
	struct level *here = &r->levels[level], *above = here - 1;
	uint32_t row = r->is_by_thread ? thread : row_of(r, site, above);

	r->n_shown++;
	if (row != NO_KEY)
		total_enter(&r->totals[row], ns, n_stops, level,
			    &r->levels->counted, sizeof(*r->levels), row);
	/* Its time is not the caller's, nor anybody's own. */
	if (site->is_async && row != NO_KEY)
		total_take(&r->totals[row], ns, n_stops);
	else if (above->counted != NO_KEY && !site->is_async)
		total_take(&r->totals[above->counted], ns, n_stops);
	here->key = site->key;
	here->counted = row;
	here->is_subject = site->is_subject;
}

static void see_message(struct report *r, const struct run *run, uint32_t i,
			const struct packed_call *c, const struct site *site)
{
	const struct function *f = &r->t->names->functions[site->function];
	struct value value;
	int has_value = f->kind == KIND_COUNT && run_first(run, i, c, &value);

	messages_take(&r->messages, site->key, c->start,
		      has_value ? &value : NULL);
}

/* A call that would be counted if the C++ library's were. */
static int is_std_alone(const struct report *r, const struct packed_call *c,
			uint32_t lane, const struct site *site,
			const struct level *here)
{
	return (r->is_plain || here->below.is_inside) &&
	       span_holds(&r->span, c->start) &&
	       (!r->min_ns || call_duration_ns(r->t, c, lane) >= r->min_ns) &&
	       filter_hides_std(r->filter, r->t->names, site->function);
}

static inline int take_call(struct report *r, const struct run *run, uint32_t i,
			    int seen)
{
	const struct packed_call *c = &run->calls[i];
	struct site *site = &r->sites[c->site];
	struct level *above, *here;
	uint8_t end = c->end;
	uint64_t ns;

	if (levels_room(r, c->depth) < 0)
		return CST_MEMORY;
	above = &r->levels[c->depth];
	here = above + 1;
	here->key = above->key;
	here->counted = above->counted;
	here->is_subject = above->is_subject;
	if (!is_visible(r, site, above, here)) {
		r->n_std += seen && is_std_alone(r, c, run->lane, site, here);
		return 0;
	}
	if (c->start > r->range.until ||
	    (c->start < r->range.from && c->end != CALL_OPEN &&
	     c->start + c->duration <= r->range.from))
		seen = 0;
	ns = call_duration_ns(r->t, c, run->lane);
	if (unlikely(site->is_async))
		async_times_of(r->t, run, i, c, &ns, &end);
	if (ns < r->min_ns || !span_holds(&r->span, c->start) ||
	    (r->where &&
	     !run_meets(run, i, c, &r->t->names->functions[site->function],
			r->where)))
		here->below.depth = r->is_plain ? 0 : above->below.depth;
	else if (seen && site->is_message)
		see_message(r, run, i, c, site);
	else if (seen)
		see_call(r, site, run->thread, ns,
			 call_stops(r->t, c, run->lane), c->depth + 1);
	else
		here->key = here->counted = NO_KEY;
	return 0;
}

static int report_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct report *r = arg;
	struct unpacked *place;
	struct run run;
	int got = walk_next(r->walk, &run, err);

	if (got <= 0)
		return got;
	place = &r->runs[r->n_runs++ % N_RUNS];
	walk_swap(r->walk, &run, place);
	run.values = run.values ? &place->values : NULL;
	bytes_put(out, &run, sizeof(run));
	return out->failed ? cst_fail_memory(err) : 1;
}

static int is_seen(const struct report *r, uint32_t thread)
{
	return thread_choice_has(&r->threads, &r->t->threads[thread]);
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
		if (run.threads) {
			run.thread = run.threads[i];
			seen = is_seen(r, run.thread);
		}
		if (take_call(r, &run, i, seen) < 0)
			return CST_MEMORY;
	}
	return 0;
}

/* The functions that the report asks about. */
static int find_subject(struct report *r, const char *regex,
			struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = regex};
	struct filter *filter;
	int status = filter_new(&choice, &filter, err);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i < r->t->names->n_sites; i++)
		r->sites[i].is_subject = (uint8_t)filter_excludes(
			filter, r->t->names, r->sites[i].function);
	filter_free(filter);
	return 0;
}

static int report_init(struct report *r, const struct cst_report *report,
		       int how, struct cst_error *err)
{
	const struct names *names = r->t->names;
	const struct function *f;
	int status = cst_report_check(report, err);

	if (status == 0)
		status =
			report_keys_init(&r->keys, names, how, report->by, err);
	if (status < 0)
		return status;
	r->is_by_thread = report->by == CST_BY_THREAD;
	if (r->is_by_thread && report_keys_take_threads(&r->keys, r->t) < 0)
		return cst_fail_memory(err);
	r->relation = report->callers	? OF_CALLERS
		      : report->callees ? OF_CALLEES
					: OF_ALL;
	if (!r->is_by_thread && r->relation == OF_ALL && !report->no_messages &&
	    messages_init(&r->messages, &r->keys) < 0)
		return cst_fail_memory(err);
	r->totals = calloc(r->keys.n + (size_t)1, sizeof(*r->totals));
	r->sites = calloc(names->n_sites + (size_t)1, sizeof(*r->sites));
	if (!r->totals || !r->sites)
		return cst_fail_memory(err);
	for (uint32_t i = 0; i < names->n_sites; i++) {
		r->sites[i].function = names->sites[i].function;
		r->sites[i].key = r->keys.of_site[i];
		f = &names->functions[names->sites[i].function];
		r->sites[i].is_async =
			f->kind == KIND_ASYNC && !r->is_by_thread;
		r->sites[i].is_message =
			r->messages.sums && function_is_message_or_counter(f);
		if (function_is_instant(f) && !r->sites[i].is_async &&
		    !r->sites[i].is_message)
			r->sites[i].verdict = HIDDEN;
	}
	if (r->relation == OF_ALL)
		return 0;
	return find_subject(
		r, report->callers ? report->callers : report->callees, err);
}

static int64_t report_run(struct report *r, const struct cst_report *report,
			  const struct cst_choice *choice,
			  struct cst_error *err)
{
	int status = thread_choice_init(&r->threads, r->t, choice, err);

	r->min_ns = choice->min_ns;
	r->range = walk_range(r->t, choice);
	r->is_plain = !choice->filter && !choice->depth;
	if (status == 0)
		status = report_init(r, report, choice->names, err);
	if (status == 0)
		status = filter_new(choice, &r->filter, err);
	if (status == 0 && choice->where)
		status = where_new(choice->where, &r->where, err);
	if (status == 0)
		status = async_times_find(r->t, err);
	if (status == 0)
		status = span_init(&r->span, r->t, choice, err);
	if (status == 0)
		status = walk_new_part(
			r->t, &(struct walk_part){.until = r->range.until}, 1,
			&r->walk, err);
	if (!r->range.until)
		r->range.until = UINT64_MAX;
	if (status == 0)
		status = pipeline_run(report_fill, r, report_take, r, err);
	return status == CST_MEMORY ? cst_fail_memory(err) : status;
}

/* Several functions may be one row: it has the size of the largest. */
static void take_sizes(struct report *r)
{
	const struct names *names = r->t->names;

	for (uint32_t i = 0; i < names->n_sites && !r->is_by_thread; i++) {
		const struct site *site = &r->sites[i];
		uint32_t bytes = names->functions[site->function].size;

		if (bytes > r->totals[site->key].size_bytes)
			r->totals[site->key].size_bytes = bytes;
	}
}

int64_t report_write(const struct cst_trace *t, const struct cst_report *report,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err)
{
	struct report r = {.t = t};
	struct bytes out = {0};
	int64_t n = report_run(&r, report, choice, err);

	answer_set(t->answer, r.n_shown, r.n_std, n == 0);
	if (n == 0)
		take_sizes(&r);
	if (n == 0)
		n = report_rows_put(r.totals, &r.keys, report, 0,
				    r.messages.keys ? &r.messages : NULL, &out,
				    err);
	if (n >= 0 && out.len &&
	    write(arg, (const char *)out.data, out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&out);
	for (int i = 0; i < N_RUNS; i++)
		unpacked_release(&r.runs[i]);
	walk_free(r.walk);
	filter_free(r.filter);
	where_free(r.where);
	messages_release(&r.messages);
	report_keys_release(&r.keys);
	free(r.sites);
	free(r.totals);
	free(r.levels);
	return n;
}
