/* SPDX-License-Identifier: MIT
 *
 * Goes through the calls of a view lane by lane, trimmed so that they nest
 * (clamp.h), and numbers their levels.
 */
#include "formats/html_tour.h"

#include <stdlib.h>

enum { NO_LANE = UINT32_MAX };

struct tour {
	const struct cst_trace *t;
	struct view *view;
	struct clamp nest;
	uint32_t lane;
};

int tour_new(const struct cst_trace *t, const struct cst_choice *choice,
	     struct tour **out, struct cst_error *err)
{
	auto_free struct tour *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return cst_fail_memory(err);
	r->t = t;
	r->lane = NO_LANE;
	status = view_new(t, choice, 1, &r->view, err);
	if (status == 0)
		*out = take(r);
	return status;
}

void tour_free(struct tour *r)
{
	if (!r)
		return;
	view_free(r->view);
	clamp_release(&r->nest);
	free(r);
}

int tour_next(struct tour *r, struct stop *out, struct cst_error *err)
{
	struct shown *call;
	int is_first, got = view_next(r->view, &call, err);

	if (got <= 0)
		return got;
	out->call = *call;
	is_first = out->call.lane != r->lane;
	while (clamp_over(&r->nest, is_first ? NULL : &out->call))
		;
	if (is_first)
		r->nest.free_ns = 0;
	r->lane = out->call.lane;
	out->is_first = (uint8_t)is_first;
	out->level = r->nest.n;
	out->function = r->t->names->sites[out->call.site].function;
	out->duration_ns = out->call.duration_ns;
	out->is_async =
		function_is_async(&r->t->names->functions[out->function]);
	if (out->is_async) /* it goes on behind its caller */
		out->call.duration_ns = 0;
	if (clamp_enter(&r->nest, out->function, &out->call) < 0)
		return cst_fail_memory(err);
	if (out->is_async)
		out->call.duration_ns = out->duration_ns;
	return 1;
}
