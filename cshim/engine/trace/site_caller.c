/* SPDX-License-Identifier: MIT
 *
 * Walks over all calls and keeps for each call site the function that was open
 * around its first call.
 */
#include "trace/site_caller.h"
#include "base/array.h"
#include "trace/walk.h"

#include <stdlib.h>

struct origin {
	const struct names *names;
	uint32_t *out;
	uint8_t *is_known; /* by site */
	uint32_t n_left;   /* sites that no call was seen from */
	uint32_t *callers; /* by depth; callers[0] is nobody */
	uint32_t cap;
};

static int callers_room(struct origin *o, uint32_t depth)
{
	uint32_t cap = o->cap;

	if (array_room(&o->callers, &o->cap, depth + 2ull) < 0)
		return CST_MEMORY;
	for (; cap < o->cap; cap++)
		o->callers[cap] = NO_ORIGIN;
	return 0;
}

static int take_run(struct origin *o, const struct run *run)
{
	for (uint32_t i = 0; i < run->n; i++) {
		const struct packed_call *c = &run->calls[i];

		if (callers_room(o, c->depth) < 0)
			return CST_MEMORY;
		o->callers[c->depth + 1] = o->names->sites[c->site].function;
		if (o->is_known[c->site])
			continue;
		o->is_known[c->site] = 1;
		o->out[c->site] = o->callers[c->depth];
		o->n_left--;
	}
	return 0;
}

/* Most traces have shown all their sites long before their end. */
static int read_calls(struct origin *o, struct walk *w, struct cst_error *err)
{
	struct run run;
	int got = 1;

	while (o->n_left && (got = walk_next(w, &run, err)) > 0)
		if (take_run(o, &run) < 0)
			return cst_fail_memory(err);
	return got < 0 ? got : 0;
}

int site_caller_find(const struct cst_trace *t, uint32_t *out,
		     struct cst_error *err)
{
	struct origin o = {
		.names = t->names, .out = out, .n_left = t->names->n_sites};
	struct walk *w = NULL;
	int status;

	for (uint32_t i = 0; i < o.n_left; i++)
		out[i] = NO_ORIGIN;
	o.is_known = calloc(o.n_left + (size_t)1, 1);
	status = o.is_known ? walk_new(t, 1, &w, err) : cst_fail_memory(err);
	if (status == 0)
		status = read_calls(&o, w, err);
	walk_free(w);
	free(o.is_known);
	free(o.callers);
	return status;
}
