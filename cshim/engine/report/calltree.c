/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, so that one stack serves all.
 */
#include "report/calltree.h"
#include "base/array.h"
#include "trace/view.h"

#include <stdlib.h>

/* An open call; level 0 lies above the outermost one. */
struct level {
	uint32_t node;	/* in the tree of callees, or NO_STACK */
	uint32_t path;	/* node in paths, or NO_STACK */
	uint32_t entry; /* what counts its own time in paths, or NO_STACK */
	uint8_t is_open, is_subject;
	uint8_t is_outermost; /* of its node's open calls */
};

static const struct level no_level = {NO_STACK, NO_STACK, NO_STACK, 0, 0, 0};

struct gather {
	struct calltree *c;
	const struct cst_trace *t;
	uint8_t *subjects;	 /* by key; NULL: none are asked for */
	struct call_paths paths; /* with subjects: to all calls, counting those
				  * of subjects */
	uint64_t n_open;	 /* roots in the tree of callees */
	struct level *levels;
	uint32_t n, cap; /* levels in use */
	uint32_t lane;
};

void calltree_release(struct calltree *c)
{
	report_keys_release(&c->keys);
	call_paths_release(&c->callees);
	call_paths_release(&c->callers);
	*c = (struct calltree){0};
}

/* The node of key below the node `above`, with its target.  As
 * call_paths_node().
 */
static int enter_node(struct call_paths *s, uint32_t above, uint32_t key,
		      uint32_t *out)
{
	uint32_t n = s->nodes.n, target;
	int got = call_paths_node(s, above, key, out);

	if (got <= 0 || s->nodes.n == n)
		return got;
	target = above;
	while (target != NO_STACK && s->nodes.all[target].b != key)
		target = s->nodes.all[target].a;
	s->sums[*out].target = target == NO_STACK ? *out : target;
	return got;
}

static void close_level(struct gather *g)
{
	const struct level *l = &g->levels[g->n - 1];

	if (l->is_open && g->c->callees.nodes.all[l->node].a == NO_STACK)
		g->n_open--;
	g->n--;
}

/* Leave just the levels above the call.  Some of them may be unknown, where
 * only one thread of a lane is seen. */
static int levels_fit(struct gather *g, const struct shown *call)
{
	uint32_t keep = call->lane == g->lane ? call->depth + 1 : 1;

	while (g->n > keep)
		close_level(g);
	g->lane = call->lane;
	if (array_room(&g->levels, &g->cap, call->depth + 2ull) < 0)
		return CST_MEMORY;
	for (; g->n < call->depth + 1; g->n++)
		g->levels[g->n] = no_level;
	return 0;
}

/* Without what the call takes of its caller's. */
static void count_self(struct call_paths *s, uint32_t caller,
		       const struct shown *call)
{
	if (caller != NO_STACK)
		total_take(&s->sums[caller].total, call->duration_ns,
			   call->n_stops);
}

/* What to count a call at in the tree of callees.  As call_paths_node(). */
static int find_callee(struct gather *g, uint32_t key,
		       const struct level *above, const struct level *here,
		       uint32_t *out)
{
	struct call_paths *s = &g->c->callees;
	uint32_t root, node = NO_STACK;
	int got;

	if (above->node != NO_STACK || !here->is_subject) {
		got = enter_node(s, above->node, key, &node);
		if (got <= 0)
			return got;
	}
	if (here->is_subject) {
		got = enter_node(s, NO_STACK, key, &root);
		if (got <= 0)
			return got;
		if (node == NO_STACK)
			node = root;
		s->sums[node].target = root;
	}
	if (calltree_is_recursive(s, node))
		s->sums[node].total.n_calls++;
	*out = s->sums[node].target;
	return 1;
}

static int take_callee(struct gather *g, uint32_t key, const struct shown *call,
		       const struct level *above, struct level *here)
{
	uint64_t ns = call->duration_ns;
	struct call_paths *s = &g->c->callees;
	int got;

	if (g->subjects && !here->is_subject && above->node == NO_STACK)
		return 0;
	g->c->n_calls++;
	got = find_callee(g, key, above, here, &here->node);
	if (got <= 0) {
		here->node = above->node;
		s->n_left_out++;
		return got;
	}
	here->is_open = 1;
	here->is_outermost = (uint8_t)total_enter(
		&s->sums[here->node].total, ns, call->n_stops,
		(uint32_t)(here - g->levels), &g->levels->node, sizeof(*here),
		here->node);
	count_self(s, above->node, call);
	if (s->nodes.all[here->node].a == NO_STACK && !g->n_open++)
		g->c->total_ns += ns;
	return 0;
}

/* Among the paths. */
static int take_path(struct gather *g, uint32_t key, const struct shown *call,
		     const struct level *above, struct level *here)
{
	struct call_paths *s = &g->paths;
	uint32_t entry;
	int got = enter_node(s, above->path, key, &entry);

	if (got <= 0) {
		here->path = above->path;
		return got;
	}
	here->path = s->sums[entry].target;
	count_self(s, above->entry, call);
	if (!here->is_subject)
		return 0;
	here->entry = entry;
	total_add(&s->sums[entry].total, call->duration_ns, call->n_stops);
	if (here->is_outermost)
		s->sums[entry].total.total_ns += call->duration_ns;
	return 0;
}

static int take_call(struct gather *g, const struct shown *call)
{
	const struct names *names = g->t->names;
	uint32_t key = g->c->keys.of_site[call->site];
	struct level *above, *here;
	int status;

	if (function_is_instant(
		    &names->functions[names->sites[call->site].function]))
		return 0;
	if (levels_fit(g, call) < 0)
		return CST_MEMORY;
	above = &g->levels[g->n - 1];
	here = above + 1;
	*here = no_level;
	g->n++;
	here->is_subject = g->subjects && g->subjects[key];
	status = take_callee(g, key, call, above, here);
	if (status < 0 || !g->subjects)
		return status;
	return take_path(g, key, call, above, here);
}

static int take_all(struct gather *g, const struct cst_choice *choice,
		    struct cst_error *err)
{
	struct view *view = NULL;
	struct shown *call;
	int status = view_new_calls(g->t, choice, 1, &view, err);

	while (status >= 0 && (status = view_next(view, &call, err)) > 0)
		if (take_call(g, call) < 0)
			status = cst_fail_memory(err);
	view_free(view);
	return status;
}

/* ---- callers ------------------------------------------------------------ */

static void add_sums(struct total *to, const struct total *s)
{
	to->n_calls += s->n_calls;
	to->total_ns += s->total_ns;
	to->self_ns += s->self_ns;
	to->n_stopped += s->n_stopped;
	to->own_stops += s->own_stops;
}

/* The path to this entry, upside down, up to where the subject is its own
 * caller: other entries have what called that. */
static int add_callers(struct gather *g, uint32_t entry)
{
	struct call_paths *to = &g->c->callers;
	const struct pair *paths = g->paths.nodes.all;
	const struct total *sums = &g->paths.sums[entry].total;
	uint32_t node = NO_STACK;

	for (uint32_t p = entry; p != NO_STACK; p = paths[p].a) {
		int got = enter_node(to, node, paths[p].b, &node);

		if (got <= 0)
			return got;
		if (calltree_is_recursive(to, node)) {
			to->sums[node].total.n_calls += sums->n_calls;
			return 0;
		}
		add_sums(&to->sums[node].total, sums);
	}
	return 0;
}

static int all_callers(struct gather *g)
{
	for (uint32_t i = 0; i < g->paths.nodes.n; i++)
		if (g->paths.sums[i].total.n_calls && add_callers(g, i) < 0)
			return CST_MEMORY;
	return 0;
}

/* ---- subjects ----------------------------------------------------------- */

static int find_subjects(struct gather *g, const char *regex,
			 struct cst_error *err)
{
	const struct cst_choice choice = {.exclude = regex};
	const struct names *names = g->t->names;
	struct calltree *c = g->c;
	struct filter *filter;
	int status = filter_new(&choice, &filter, err);

	if (status < 0)
		return status;
	g->subjects = calloc(c->keys.n + (size_t)1, 1);
	for (uint32_t i = 0; g->subjects && i < names->n_functions; i++) {
		uint32_t key = c->keys.of_function[i];

		if (!g->subjects[key])
			g->subjects[key] = filter_excludes(filter, names, i);
	}
	filter_free(filter);
	return g->subjects ? 0 : cst_fail_memory(err);
}

int calltree_make(struct calltree *c, const struct cst_trace *t,
		  const char *function, const struct cst_choice *choice,
		  struct cst_error *err)
{
	auto_free struct gather *g = calloc(1, sizeof(*g));
	int status;

	*c = (struct calltree){0};
	if (!g)
		return cst_fail_memory(err);
	g->c = c;
	g->t = t;
	g->lane = UINT32_MAX;
	status = report_keys_init(&c->keys, t->names, choice->names,
				  CST_BY_FUNCTION, err);
	if (status == 0 && function)
		status = find_subjects(g, function, err);
	if (status == 0)
		status = take_all(g, choice, err);
	if (status == 0 && all_callers(g) < 0)
		status = cst_fail_memory(err);
	call_paths_release(&g->paths);
	free(g->subjects);
	free(g->levels);
	if (status < 0)
		calltree_release(c);
	return status;
}
