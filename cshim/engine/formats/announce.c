/* SPDX-License-Identifier: MIT
 *
 * How large a saved trace will be, from a look at its first visible calls.
 */
#include "base/outfile.h"
#include "formats/html.h"
#include "trace/loader.h"
#include "trace/view.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SAMPLE = 512 * 16 };

static const uint64_t much_bytes = 1000000000;

/* A call's share of a file: so many bytes, and its names so many times.  A
 * page, with 0 bytes, has no more than some calls. */
struct cost {
	const char *format;
	uint32_t bytes, names, symbols, depth;
};

static const struct cost costs[] = {
	{"txt", 43, 1, 0, 2},	  {"jsonl", 250, 2, 1, 0},
	{"json", 125, 1, 0, 0},	  {"speedscope", 100, 0, 0, 0},
	{"otlp", 500, 2, 1, 0},	  {"ctf", 40, 0, 0, 0},
	{"uftrace", 32, 0, 0, 0}, {"html", 0, 0, 0, 0},
};

/* The longest ending counts: .otlp.json is none of .json's. */
static const struct cost *find_cost(const char *path, const char *format)
{
	const char *end = path ? path + strlen(path) : NULL;

	while (!format && end && end > path && end[-1] == '/')
		end--;
	for (size_t i = sizeof(costs) / sizeof(*costs); i--;) {
		const char *name = costs[i].format;
		size_t n = strlen(name);
		int is_it = format ? !strcasecmp(format, name)
				   : end - path > (long)n &&
					     end[-(long)n - 1] == '.' &&
					     !strncasecmp(end - n, name, n);

		if (is_it)
			return &costs[i];
	}
	return NULL;
}

static uint64_t cost_of(const struct cost *c, const struct names *names,
			const struct shown *call)
{
	const struct function *f =
		&names->functions[names->sites[call->site].function];

	return c->bytes + c->names * strlen(f->simple) +
	       c->symbols *
		       (strlen(f->name) + (f->symbol ? strlen(f->symbol) : 0)) +
	       (uint64_t)c->depth * call->depth;
}

/* The part of all calls that is visible is that of the first lane's first. */
static uint64_t estimate(const struct cst_trace *t, const struct cost *c,
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
		bytes += cost_of(c, t->names, call);
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
	const struct cost *c = find_cost(path, format);

	return c && !strcmp(c->format, "txt") && !look->thread && !look->id &&
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
	const struct cost *c = find_cost(path, format);
	uint64_t bytes;

	if (c && !c->bytes && t->status.n_calls > HTML_MOST_CALLS &&
	    memcmp(&all, choice, sizeof(all)) == 0) {
		snprintf(out, size,
			 "of %llu calls a page has only the %d longest one by "
			 "one: below, filter or range make it a part with all",
			 (unsigned long long)t->status.n_calls,
			 HTML_MOST_CALLS);
		return 1;
	}
	/* A tenth of that at most is a call's: do not even look. */
	if (!c || !c->bytes || t->status.n_calls < much_bytes / 2000 ||
	    memcmp(&all, choice, sizeof(all)) != 0)
		return 0;
	outfile_begin(); /* an interrupt that came before is another's */
	bytes = estimate(t, c, choice);
	if (bytes < much_bytes)
		return 0;
	snprintf(out, size,
		 "about %llu GB: depth, filter or min-time make it less, a "
		 ".cst has all in little",
		 (unsigned long long)((bytes + much_bytes / 2) / much_bytes));
	return 1;
}
