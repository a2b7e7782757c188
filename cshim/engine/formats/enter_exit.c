/* SPDX-License-Identifier: MIT
 *
 * Makes entries and exits from the calls of a view, closing each call before
 * what comes after it (clamp.h).
 */
#include "formats/enter_exit.h"

#include <stdlib.h>

enum { NO_LANE = UINT32_MAX };

struct enter_exit {
	const struct cst_trace *t;
	struct view *view;
	struct clamp nest; /* of the lane under way */
	uint32_t lane;
	uint64_t last_ns; /* of the lane's step before */
};

int enter_exit_new(const struct cst_trace *t, const struct cst_choice *choice,
		   int has_texts, struct enter_exit **out,
		   struct cst_error *err)
{
	struct enter_exit *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return cst_fail_memory(err);
	s->t = t;
	s->lane = NO_LANE;
	status = has_texts ? view_new(t, choice, 1, &s->view, err)
			   : view_new_calls(t, choice, 1, &s->view, err);
	if (status < 0)
		enter_exit_free(s);
	else
		*out = s;
	return status;
}

void enter_exit_free(struct enter_exit *s)
{
	if (!s)
		return;
	view_free(s->view);
	clamp_release(&s->nest);
	free(s);
}

/* What there is to step to next: no instants but messages. */
static int peek(struct enter_exit *s, struct shown **out, struct cst_error *err)
{
	const struct names *names = s->t->names;
	int status;

	while ((status = view_peek(s->view, out, err)) > 0) {
		const struct function *f =
			&names->functions[names->sites[(*out)->site].function];

		if (!function_is_instant(f) || function_has_text(f))
			return 1;
		s->view->next++;
	}
	return status;
}

/* A message takes no time. */
static void step_text(struct enter_exit *s, const struct shown *call,
		      struct step *out)
{
	*out = (struct step){
		.at_ns = call->start_ns > s->last_ns ? call->start_ns
						     : s->last_ns,
		.lane = call->lane,
		.function = s->t->names->sites[call->site].function,
		.depth = s->nest.n,
		.is_text = 1,
		.call = call,
	};
	s->view->next++;
}

static void step_exit(const struct enter_exit *s, const struct nested *over,
		      struct step *out)
{
	*out = (struct step){
		.at_ns = over->end_ns,
		.lane = s->lane,
		.function = over->function,
		.depth = s->nest.n,
		.is_exit = 1,
		.end = over->end,
		.is_stopped = over->is_stopped,
	};
}

static int step_entry(struct enter_exit *s, struct shown *call,
		      struct step *out, struct cst_error *err)
{
	*out = (struct step){
		.lane = call->lane,
		.function = s->t->names->sites[call->site].function,
		.depth = s->nest.n,
		.end = call->end,
		.call = call,
	};
	if (clamp_enter(&s->nest, out->function, call) < 0)
		return cst_fail_memory(err);
	out->at_ns = call->start_ns;
	s->view->next++;
	return 1;
}

int enter_exit_next(struct enter_exit *s, struct step *out,
		    struct cst_error *err)
{
	const struct names *names = s->t->names;
	const struct nested *over;
	struct shown *call;
	int status = peek(s, &call, err);

	if (status < 0)
		return status;
	over = clamp_over(&s->nest,
			  call && call->lane == s->lane ? call : NULL);
	if (over) {
		step_exit(s, over, out);
		s->last_ns = out->at_ns;
		return 1;
	}
	if (!call)
		return 0;
	if (call->lane != s->lane) {
		clamp_release(&s->nest);
		s->last_ns = 0;
	}
	s->lane = call->lane;
	if (function_has_text(
		    &names->functions[names->sites[call->site].function])) {
		step_text(s, call, out);
		return 1;
	}
	status = step_entry(s, call, out, err);
	s->last_ns = out->at_ns;
	return status;
}
