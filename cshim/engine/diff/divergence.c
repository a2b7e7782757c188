/* SPDX-License-Identifier: MIT
 *
 * Both lanes are read side by side up to the first difference, then each on
 * its own to the end of the call that both are in.  What its callees call is
 * only a hash, so the longest common list of them is found in little memory.
 */
#include "diff/divergence.h"
#include "base/array.h"

#include <stdlib.h>

enum {
	SAME = 10,   /* worth of two equal subtrees ... */
	CHANGED = 4, /* ... of one call with two ways to go on ... */
	ALONE = 1,   /* ... less each call that only one of them has */
};

/* One lane, call by call. */
struct side {
	const uint32_t *sites; /* joint numbers */
	struct view *view;
	uint8_t *is_chosen; /* by lane: only this one */
};

void divergence_release(struct divergence *p)
{
	for (int t = 0; t < 2; t++) {
		free(p->stack[t]);
		free(p->children[t]);
	}
	free(p->steps);
	*p = (struct divergence){0};
}

static int side_init(struct side *s, const struct matched_functions *j, int t,
		     const struct cst_choice *choice, uint32_t lane,
		     struct cst_error *err)
{
	const struct cst_trace *trace = j->traces[t];
	struct walk_part part = {0};

	s->sites = j->sites[t];
	s->is_chosen = calloc(trace->n_lanes + (size_t)1, 1);
	if (!s->is_chosen)
		return cst_fail_memory(err);
	s->is_chosen[lane] = 1;
	part.lanes = s->is_chosen;
	return view_new_part(trace, choice, &part, 1, &s->view, err);
}

static void side_release(struct side *s)
{
	view_free(s->view);
	free(s->is_chosen);
}

/* ---- up to the parting -------------------------------------------------- */

static int stack_put(struct divergence *p, struct shown *calls[2])
{
	uint32_t depth = calls[0]->depth, cap = p->cap_stack;

	if (array_room(&p->stack[0], &cap, depth + 2ull) < 0 ||
	    array_room(&p->stack[1], &p->cap_stack, depth + 2ull) < 0)
		return CST_MEMORY;
	for (int t = 0; t < 2; t++) {
		p->stack[t][depth] = *calls[t];
		p->stack[t][depth + 1].number = 0;
	}
	return 0;
}

static int is_equal(const struct side s[2], struct shown *calls[2])
{
	return calls[0] && calls[1] && calls[0]->depth == calls[1]->depth &&
	       s[0].sites[calls[0]->site] == s[1].sites[calls[1]->site];
}

/* Returns 1 when the lanes part, 0 when they do not. */
static int go_together(struct divergence *p, struct side s[2], int is_ends,
		       struct cst_error *err)
{
	struct shown *calls[2];
	int got = 0;

	for (;;) {
		for (int t = 0; t < 2 && got >= 0; t++)
			got = view_peek(s[t].view, &calls[t], err);
		if (got < 0)
			return got;
		if (!calls[0] && !calls[1])
			return 0;
		if (!is_equal(s, calls) ||
		    (is_ends && call_end_sort(calls[0]->end) !=
					call_end_sort(calls[1]->end)))
			break;
		if (stack_put(p, calls) < 0)
			return cst_fail_memory(err);
		p->n_equal++;
		s[0].view->next++;
		s[1].view->next++;
	}
	p->kind = is_ends ? PARTING_END : PARTING_CALL;
	for (int t = 0; t < 2; t++) {
		if (calls[t])
			p->next[t] = *calls[t];
		if (calls[t] && calls[t]->depth > p->depth)
			p->depth = calls[t]->depth;
	}
	return 1;
}

/* ---- behind it ---------------------------------------------------------- */

static int read_children(struct divergence *p, struct side *s, int t,
			 struct cst_error *err)
{
	struct shown *call;
	struct divergence_child *child = NULL;
	int got;

	p->children[t] = calloc(PARTING_CHILDREN, sizeof(*child));
	if (!p->children[t])
		return cst_fail_memory(err);
	while ((got = view_peek(s->view, &call, err)) > 0 &&
	       call->depth >= p->depth) {
		uint32_t site = s->sites[call->site];

		if (call->depth == p->depth || !child) {
			if (p->n_children[t] == PARTING_CHILDREN) {
				p->is_cut[t] = 1;
				break;
			}
			child = &p->children[t][p->n_children[t]++];
			child->call = *call;
			child->site = site;
		}
		child->n_calls++;
		child->hash = hash_add(child->hash,
				       (uint64_t)call->depth << 32 | site);
		s->view->next++;
	}
	if (got > 0 && !p->is_cut[t])
		p->after[t] = *call;
	return got;
}

static int step_worth(const struct divergence *p, uint32_t a, uint32_t b)
{
	const struct divergence_child *x = &p->children[0][a];
	const struct divergence_child *y = &p->children[1][b];

	if (x->hash == y->hash && x->n_calls == y->n_calls)
		return SAME;
	return x->site == y->site ? CHANGED : 0;
}

static void put_step(struct divergence *p, uint32_t a, uint32_t b)
{
	p->steps[p->n_steps++] = (struct divergence_step){a, b};
}

/* worth[a][b]: the best for what lies from there on.  Behind the end of what
 * was looked at there may be partners, so to be alone there costs nothing. */
static void fill_worth(const struct divergence *p, int16_t *worth)
{
	uint32_t n_a = p->n_children[0], n_b = p->n_children[1], row = n_b + 1;
	int end = p->is_cut[0] || p->is_cut[1] ? 0 : ALONE;

	for (uint32_t a = n_a + 1; a-- > 0;) {
		for (uint32_t b = n_b + 1; b-- > 0;) {
			int16_t *here = &worth[a * row + b];
			int best, next, both;

			if (a == n_a || b == n_b) {
				*here = (int16_t)(-end *
						  (int)(n_a - a + n_b - b));
				continue;
			}
			both = step_worth(p, a, b);
			next = here[1] > here[row] ? here[1] : here[row];
			best = next - ALONE;
			if (both && both + here[row + 1] > best)
				best = both + here[row + 1];
			*here = (int16_t)best;
		}
	}
}

static void read_steps(struct divergence *p, const int16_t *worth)
{
	uint32_t n_a = p->n_children[0], n_b = p->n_children[1], row = n_b + 1;
	uint32_t a = 0, b = 0;

	while (a < n_a && b < n_b) {
		const int16_t *here = &worth[a * row + b];
		int both = step_worth(p, a, b);

		if (both && *here == both + here[row + 1]) {
			a++;
			b++;
			put_step(p, a, b);
		} else if (*here == here[row] - ALONE) {
			put_step(p, ++a, 0);
		} else {
			put_step(p, 0, ++b);
		}
	}
	while (a < n_a)
		put_step(p, ++a, 0);
	while (b < n_b)
		put_step(p, 0, ++b);
}

/* At the end of what was looked at, partners may lie just beyond. */
static void trim_steps(struct divergence *p)
{
	uint32_t n = p->n_steps;

	while (n && !(p->steps[n - 1].a && p->steps[n - 1].b))
		n--;
	if (n && (p->is_cut[0] || p->is_cut[1]))
		p->n_steps = n;
}

static int compare_children(struct divergence *p, struct cst_error *err)
{
	uint32_t n_a = p->n_children[0], n_b = p->n_children[1];
	auto_free int16_t *worth =
		calloc((n_a + 1) * (n_b + 1), sizeof(*worth));

	p->steps = calloc(n_a + n_b + 1, sizeof(*p->steps));
	if (!worth || !p->steps)
		return cst_fail_memory(err);
	fill_worth(p, worth);
	read_steps(p, worth);
	trim_steps(p);
	return 0;
}

static int find(struct divergence *p, struct side s[2], int is_ends,
		struct cst_error *err)
{
	int got = go_together(p, s, is_ends, err);

	if (got <= 0)
		return got;
	got = read_children(p, &s[0], 0, err);
	if (got >= 0)
		got = read_children(p, &s[1], 1, err);
	if (got < 0)
		return got;
	p->is_same_after =
		p->after[0].number && p->after[1].number &&
		p->after[0].depth == p->after[1].depth &&
		s[0].sites[p->after[0].site] == s[1].sites[p->after[1].site];
	return compare_children(p, err);
}

int divergence_find(struct divergence *p, const struct matched_functions *j,
		    const struct cst_choice *choice, const uint32_t lanes[2],
		    struct cst_error *err)
{
	int status = 0;

	/* How calls ended counts where nothing else differs. */
	for (int is_ends = 0; is_ends < 2 && status == 0; is_ends++) {
		auto_free struct side *s = calloc(2, sizeof(*s));

		divergence_release(p);
		if (!s)
			return cst_fail_memory(err);
		status = side_init(&s[0], j, 0, choice, lanes[0], err);
		if (status == 0)
			status = side_init(&s[1], j, 1, choice, lanes[1], err);
		if (status == 0)
			status = find(p, s, is_ends, err);
		side_release(&s[0]);
		side_release(&s[1]);
		if (p->kind != PARTING_NONE)
			break;
	}
	return status;
}
