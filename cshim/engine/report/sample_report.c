/* SPDX-License-Identifier: MIT
 *
 * Sums the samples up: those in a function's own code are its SELF, those in it
 * or in what it called its TOTAL.  What the choice hides counts for its nearest
 * visible caller.  The C++ library's functions are shown: time is spent there.
 */
#include "report/sample_report.h"
#include "base/array.h"
#include "names/filter.h"
#include "report/report_rows.h"
#include "trace/answer.h"
#include "trace/loader.h"
#include "trace/span.h"
#include "trace/thread_choice.h"
#include "trace/walk.h"

#include <math.h>
#include <stdlib.h>

struct sums {
	const struct cst_trace *t;
	const struct cst_report *report;
	struct keys keys;
	struct filter *filter, *subject;
	struct thread_choice threads;
	struct walk_part range;
	struct span span;
	struct total *totals; /* by key, and one for no caller */
	uint32_t *counted_in; /* number of the sample, by key */
	uint64_t *squares;    /* by key: of the weights in its own code */
	uint32_t *path;	      /* visible keys, outermost first */
	uint32_t *nodes;      /* of a stack, innermost first */
	uint32_t cap_path, cap_nodes;
	uint64_t n, weight, all_squares;
};

static int sums_init(struct sums *s, const struct cst_choice *choice,
		     struct cst_error *err)
{
	struct cst_choice seen = *choice;
	const char *subject =
		s->report->callers ? s->report->callers : s->report->callees;
	int status;

	seen.std = 1;
	status = thread_choice_init(&s->threads, s->t, choice, err);
	if (status == 0)
		status = report_keys_init(&s->keys, s->t->names, choice->names,
					  CST_BY_FUNCTION, err);
	if (status == 0)
		status = filter_new(&seen, &s->filter, err);
	if (status == 0 && subject)
		status = filter_new(&(struct cst_choice){.exclude = subject},
				    &s->subject, err);
	if (status == 0)
		status = span_init(&s->span, s->t, choice, err);
	if (status < 0)
		return status;
	s->range = walk_range(s->t, choice);
	if (!s->range.until)
		s->range.until = UINT64_MAX;
	if (s->report->by == CST_BY_THREAD &&
	    report_keys_take_threads(&s->keys, s->t) < 0)
		return cst_fail_memory(err);
	s->totals = calloc(s->keys.n + (size_t)1, sizeof(*s->totals));
	s->squares = calloc(s->keys.n + (size_t)1, sizeof(*s->squares));
	s->counted_in = calloc(s->keys.n + (size_t)1, sizeof(*s->counted_in));
	return s->totals && s->squares && s->counted_in ? 0
							: cst_fail_memory(err);
}

static void sums_release(struct sums *s)
{
	report_keys_release(&s->keys);
	filter_free(s->filter);
	filter_free(s->subject);
	free(s->totals);
	free(s->squares);
	free(s->counted_in);
	free(s->path);
	free(s->nodes);
}

/* Which functions of a stack are visible, outermost first; returns how many, or
 * CST_MEMORY. */
static int find_path(struct sums *s, uint32_t node)
{
	const struct trace_samples *samples = &s->t->samples;
	struct filter_state above = filter_root(s->filter), below;
	uint32_t n = 0, n_seen = 0;

	for (; node; node = samples->nodes[node].parent) {
		if (array_room(&s->nodes, &s->cap_nodes, n + 1ull) < 0)
			return CST_MEMORY;
		s->nodes[n++] = node;
	}
	if (array_room(&s->path, &s->cap_path, n + 1ull) < 0)
		return CST_MEMORY;
	while (n--) {
		uint32_t function = samples_function(samples, s->nodes[n]);

		if (filter_enter(s->filter, s->t->names, function, above,
				 &below))
			s->path[n_seen++] = function;
		above = below;
	}
	return (int)n_seen;
}

static void count_total(struct sums *s, uint32_t key, uint32_t weight)
{
	struct total *t = &s->totals[key];

	if (s->counted_in[key] == s->n)
		return; /* recursion */
	s->counted_in[key] = (uint32_t)s->n;
	t->n_calls += weight;
	t->total_ns += weight;
}

static void count_self(struct sums *s, uint32_t key, uint32_t weight)
{
	s->totals[key].self_ns += weight;
	s->squares[key] += (uint64_t)weight * weight;
}

/* What shares are parts of. */
static void count_all(struct sums *s, uint32_t weight)
{
	s->weight += weight;
	s->all_squares += (uint64_t)weight * weight;
}

static int is_subject(struct sums *s, uint32_t function)
{
	return filter_excludes(s->subject, s->t->names, function);
}

/* A row for each caller of the subject, or for each function that it calls, by
 * the innermost frame of it. */
static void count_relation(struct sums *s, uint32_t n, uint32_t weight)
{
	uint32_t at = n, key;

	while (at && !is_subject(s, s->path[at - 1]))
		at--;
	if (!at)
		return;
	if (s->report->callers)
		key = at > 1 ? s->keys.of_function[s->path[at - 2]] : s->keys.n;
	else if (at < n)
		key = s->keys.of_function[s->path[at]];
	else
		return;
	count_all(s, weight);
	count_total(s, key, weight);
	count_self(s, key, weight);
}

static int take_sample(struct sums *s, const struct trace_sample *sample)
{
	int n = find_path(s, sample->node);

	if (n < 0)
		return n;
	if (!n && sample->node)
		return 0; /* the choice hides all of it */
	s->n++;
	if (!s->subject)
		count_all(s, sample->weight);
	if (s->report->by == CST_BY_THREAD) {
		count_total(s, sample->thread, sample->weight);
		count_self(s, sample->thread, sample->weight);
		return 0;
	}
	if (s->subject) {
		count_relation(s, (uint32_t)n, sample->weight);
		return 0;
	}
	for (int i = 0; i < n; i++)
		count_total(s, s->keys.of_function[s->path[i]], sample->weight);
	if (n)
		count_self(s, s->keys.of_function[s->path[n - 1]],
			   sample->weight);
	return 0;
}

static int is_chosen(const struct sums *s, const struct trace_sample *sample)
{
	return thread_choice_has(&s->threads, &s->t->threads[sample->thread]) &&
	       sample->tick >= s->range.from &&
	       sample->tick <= s->range.until &&
	       span_holds(&s->span, sample->tick);
}

/* Numbers of samples become times, and each share gets its error: that of a
 * part p of n samples is sqrt(p (1 - p) / n), where samples that stand for
 * several make n smaller. */
static void settle(struct sums *s)
{
	double sum = (double)s->weight;

	for (uint32_t i = 0; i <= s->keys.n; i++) {
		struct total *t = &s->totals[i];
		uint64_t self = total_self(t);
		double p = sum > 0 ? (double)self / sum : 0;

		t->n_samples = self;
		if (sum > 0)
			t->error_ppm = (uint32_t)(1e6 *
						  sqrt(p * (1 - p) *
						       (double)s->all_squares) /
						  sum);
		t->total_ns = samples_ns(&s->t->samples, t->total_ns);
		t->self_ns = (int64_t)samples_ns(&s->t->samples, self);
	}
}

static int64_t report_run(struct sums *s, const struct cst_choice *choice,
			  struct bytes *out, struct cst_error *err)
{
	struct cst_report report = *s->report;
	int status = sums_init(s, choice, err);

	for (uint32_t i = 0; status == 0 && i < s->t->samples.n; i++)
		if (is_chosen(s, &s->t->samples.all[i]))
			status = take_sample(s, &s->t->samples.all[i]);
	if (status < 0)
		return status == CST_MEMORY ? cst_fail_memory(err) : status;
	settle(s);
	if (!report.sort)
		report.sort = "self,total";
	return report_rows_put(s->totals, &s->keys, &report, 1, NULL, out, err);
}

int64_t sample_report_write(const struct cst_trace *t,
			    const struct cst_report *report,
			    const struct cst_choice *choice, cst_write_fn write,
			    void *arg, struct cst_error *err)
{
	struct sums s = {.t = t, .report = report};
	struct bytes out = {0};
	int64_t n = report_run(&s, choice, &out, err);

	answer_set(t->answer, s.n, 0, n == 0);
	if (n > 0 && write(arg, (const char *)out.data, out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&out);
	sums_release(&s);
	return n;
}
