/* SPDX-License-Identifier: MIT
 *
 * Times are summed up as the report does: a function's total counts once where
 * it calls itself.  A callee takes no longer than its caller, so the calls
 * above any length are a tree.
 */
#include "formats/html_sums.h"
#include "base/array.h"
#include "formats/html_tour.h"

#include <stdlib.h>

/* Durations by their highest bit and the four below it. */
enum { STEPS = 16, STEP_BITS = 4, N_BINS = (64 - STEP_BITS + 1) * STEPS };

struct summing {
	struct html_sums *s;
	const struct cst_trace *t;
	uint32_t *levels; /* function of each open call */
	uint32_t cap;
	uint64_t bins[N_BINS];
};

static unsigned bin_of(uint64_t ns)
{
	unsigned top;

	if (ns < STEPS)
		return (unsigned)ns;
	top = 63 - (unsigned)__builtin_clzll(ns);
	return (top - STEP_BITS + 1) * STEPS +
	       (unsigned)(ns >> (top - STEP_BITS) & (STEPS - 1));
}

static uint64_t bin_least(unsigned bin)
{
	unsigned shift = bin / STEPS;

	if (!shift)
		return bin;
	return (uint64_t)(STEPS + bin % STEPS) << (shift - 1);
}

static uint64_t least_of(const uint64_t *bins, uint64_t n_most)
{
	uint64_t n = 0;
	unsigned bin = N_BINS;

	while (bin && bins[bin - 1] <= n_most - n)
		n += bins[--bin];
	/* All are alike: take what there is room for. */
	while (bin && !n)
		n = bins[--bin];
	return bin ? bin_least(bin) : 0;
}

static void add_call(struct summing *g, const struct stop *stop)
{
	uint32_t level = stop->level, n_stops = stop->call.n_stops;
	uint64_t ns = stop->duration_ns;

	total_enter(&g->s->all[stop->function], ns, n_stops, level, g->levels,
		    sizeof(*g->levels), stop->function);
	if (level && !stop->is_async)
		total_take(&g->s->all[g->levels[level - 1]], ns, n_stops);
	g->levels[level] = stop->function;
	g->bins[bin_of(stop->call.duration_ns)]++;
	g->s->n_calls += !stop->call.is_note;
	g->s->n_rows++;
}

int html_sums_make(struct html_sums *s, const struct cst_trace *t,
		   const struct cst_choice *choice, uint64_t n_most,
		   struct cst_error *err)
{
	auto_free struct summing *g = calloc(1, sizeof(*g));
	struct tour *tour = NULL;
	struct stop stop;
	int status = 0;

	*s = (struct html_sums){.all = calloc(t->names->n_functions + (size_t)1,
					      sizeof(*s->all))};
	if (!g || !s->all)
		return cst_fail_memory(err);
	g->s = s;
	g->t = t;
	status = tour_new(t, choice, &tour, err);
	while (status >= 0 && (status = tour_next(tour, &stop, err)) > 0) {
		if (array_room(&g->levels, &g->cap, stop.level + 1ull) < 0)
			status = cst_fail_memory(err);
		else
			add_call(g, &stop);
	}
	tour_free(tour);
	free(g->levels);
	if (status == 0)
		s->least_ns = least_of(g->bins, n_most);
	return status;
}

void html_sums_release(struct html_sums *s)
{
	free(s->all);
	*s = (struct html_sums){0};
}
