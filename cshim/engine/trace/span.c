/* SPDX-License-Identifier: MIT
 *
 * A function's first call is found by going through the calls in order of time
 * up to it.  What was found is kept with the trace, for some readers of it ask
 * again for each lane.
 */
#include "trace/span.h"
#include "names/filter.h"
#include "trace/answer.h"
#include "trace/callid.h"
#include "trace/locate.h"
#include "trace/walk.h"

#include <stdlib.h>
#include <string.h>

typedef int (*is_bound_fn)(struct filter *f, const struct names *names,
			   uint32_t function);

/* The first of these functions' calls that starts at this tick or later.  1:
 * there is one, at *tick. */
static int find_call(const struct cst_trace *t, struct filter *f,
		     is_bound_fn is_bound, uint64_t from, uint64_t *tick,
		     struct cst_error *err)
{
	const struct walk_part part = {.from = from};
	const struct names *names = t->names;
	struct walk *walk;
	struct run run;
	int got = walk_new_part(t, &part, 0, &walk, err);

	if (got < 0)
		return got;
	while ((got = walk_next(walk, &run, err)) > 0) {
		uint32_t i = 0;

		while (i < run.n &&
		       (run.calls[i].start < from ||
			!is_bound(f, names,
				  names->sites[run.calls[i].site].function)))
			i++;
		if (i < run.n) {
			*tick = run.calls[i].start;
			break;
		}
	}
	walk_free(walk);
	return got;
}

static int find_id(const struct cst_trace *t, const char *word, uint64_t *tick,
		   struct cst_error *err)
{
	struct callid id;
	uint32_t thread;
	int status = callid_parse(word, &id, err);

	if (status == 0)
		status = callid_thread(t, &id, &thread, err);
	if (status == 0)
		status = locate_call(t, &id, thread, tick, NULL, err);
	if (status == 0)
		return cst_fail(CST_BAD_INPUT, err,
				"no call %.60s in this trace", word);
	return status;
}

/* Finds where the span begins or ends, at a function (find_call()) or an ID. */
static int find_bound(const struct cst_trace *t, const char *word,
		      struct filter *f, is_bound_fn is_bound, uint64_t from,
		      uint64_t *tick, struct cst_error *err)
{
	return filter_is_id(word) ? find_id(t, word, tick, err)
				  : find_call(t, f, is_bound, from, tick, err);
}

static int find_both(struct span *s, const struct cst_trace *t,
		     const struct cst_choice *choice, struct filter *f,
		     struct cst_error *err)
{
	int got = 1;

	if (choice->from)
		got = find_bound(t, choice->from, f, filter_begins, 0, &s->from,
				 err);
	if (got == 0)
		s->from = UINT64_MAX;
	if (got <= 0 || !choice->until)
		return got;
	return find_bound(t, choice->until, f, filter_ends,
			  choice->from ? s->from + 1 : 0, &s->until, err);
}

static int is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static int span_find(struct span *s, const struct cst_trace *t,
		     const struct cst_choice *choice, struct cst_error *err)
{
	const struct cst_choice bounds = {.from = choice->from,
					  .until = choice->until,
					  .names = choice->names};
	struct filter *f;
	int status = filter_new(&bounds, &f, err);

	if (status < 0)
		return status;
	status = find_both(s, t, choice, f, err);
	filter_free(f);
	return status < 0 ? status : 0;
}

int span_init(struct span *s, const struct cst_trace *t,
	      const struct cst_choice *choice, struct cst_error *err)
{
	struct answer *a = t->answer;
	int status;

	*s = (struct span){0, UINT64_MAX};
	if (!choice->from && !choice->until)
		return 0;
	if (a->has_span && a->n_span_blocks == t->n_blocks &&
	    is_same(a->from, choice->from) &&
	    is_same(a->until, choice->until)) {
		*s = a->span;
		return 0;
	}
	status = span_find(s, t, choice, err);
	if (status < 0)
		return status;
	answer_forget_span(a);
	a->from = choice->from ? strdup(choice->from) : NULL;
	a->until = choice->until ? strdup(choice->until) : NULL;
	a->span = *s;
	a->n_span_blocks = t->n_blocks;
	a->has_span = is_same(a->from, choice->from) &&
		      is_same(a->until, choice->until);
	return 0;
}
