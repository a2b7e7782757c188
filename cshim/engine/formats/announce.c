/* SPDX-License-Identifier: MIT
 *
 * How large a saved trace will be, from a look at its first visible calls.
 */
#include "base/outfile.h"
#include "formats/formats.h"
#include "trace/loader.h"
#include "trace/view.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE = 512 * 16 };

static const uint64_t much_bytes = 1000000000;

static uint64_t call_size(const struct format_size *s,
			  const struct names *names, const struct shown *call)
{
	const struct function *f =
		&names->functions[names->sites[call->site].function];

	return s->bytes + s->names * strlen(f->simple) +
	       s->symbols *
		       (strlen(f->name) + (f->symbol ? strlen(f->symbol) : 0)) +
	       (uint64_t)s->depth * call->depth;
}

/* The part of all calls that is visible is that of the first lane's first. */
static uint64_t estimate(const struct cst_trace *t, const struct format_size *s,
			 const struct cst_choice *choice)
{
	struct shown *call;
	struct cst_error err;
	struct view *v = NULL;
	uint64_t n_shown = 0, n_all = 0, bytes = 0;
	uint32_t lane = UINT32_MAX;
	int status = view_new(t, choice, 1, &v, &err);

	while (status >= 0 && n_shown < SAMPLE &&
	       (status = view_next(v, &call, &err)) > 0) {
		if (lane == UINT32_MAX)
			lane = call->lane;
		if (call->lane != lane || call->is_seed)
			continue;
		bytes += call_size(s, t->names, call);
		n_shown++;
		n_all = call->number;
	}
	view_free(v);
	return n_all ? (uint64_t)((double)bytes / (double)n_all *
				  (double)t->status.n_calls)
		     : 0;
}

int cst_trace_mixes_threads(const struct cst_trace *t, const char *path,
			    const char *format, const struct cst_look *look,
			    const struct cst_choice *choice)
{
	struct cst_error err;
	const struct format *f = formats_find(path, format, &err);

	return f && format_has_rows(f) && !look->thread && !look->id &&
	       !choice->thread && !choice->root && t->n_threads > 1;
}

int cst_trace_announce(const struct cst_trace *t, const char *path,
		       const char *format, const struct cst_choice *choice,
		       char *out, uint32_t size)
{
	struct cst_choice all = {.std = choice->std,
				 .names = choice->names,
				 .words = choice->words,
				 .exclude = choice->exclude};
	struct cst_error err;
	const struct format *f = formats_find(path, format, &err);
	struct format_size s;
	uint64_t bytes;

	if (!f || memcmp(&all, choice, sizeof(all)) != 0)
		return 0;
	s = format_size(f);
	if (s.most_calls && t->status.n_calls > s.most_calls) {
		snprintf(out, size,
			 "of %llu calls a page has only the %u longest one by "
			 "one: below, filter or range make it a part with all",
			 (unsigned long long)t->status.n_calls, s.most_calls);
		return 1;
	}
	/* A tenth of that at most is a call's: do not even look. */
	if (!s.bytes || t->status.n_calls < much_bytes / 2000)
		return 0;
	outfile_begin(); /* an interrupt that came before is another's */
	bytes = estimate(t, &s, choice);
	if (bytes < much_bytes)
		return 0;
	snprintf(out, size,
		 "about %llu GB: depth, filter or min-time make it less, a "
		 ".cst has all in little",
		 (unsigned long long)((bytes + much_bytes / 2) / much_bytes));
	return 1;
}
