/* SPDX-License-Identifier: MIT
 *
 * Runs an exporter: takes the calls of a choice one by one, lets the format
 * append the text of each, and passes the text on in pieces.
 */
#include "formats/exporter.h"
#include "base/pipeline.h"
#include "trace/window.h"

struct exported {
	const struct exporter *e;
	void *x;
	const struct cst_trace *t;
	struct view *view;
	struct window window;
	int is_begun;
	int64_t n_calls;
};

static inline int put_call(struct exported *x, struct shown *call,
			   struct bytes *out)
{
	x->n_calls += !call->is_note;
	return x->e->call(x->x, call, out);
}

static int put_windowed(struct exported *x, struct shown *call,
			struct bytes *out)
{
	const struct shown *callers;
	uint32_t n;
	int got = window_take(&x->window, call, &callers, &n);

	if (got <= 0)
		return got;
	for (uint32_t i = 0; i < n; i++) {
		struct shown caller = callers[i];

		if (caller.number && put_call(x, &caller, out) < 0)
			return CST_MEMORY;
	}
	return put_call(x, call, out);
}

static int exporter_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct exported *x = arg;
	const int is_all = window_is_all(&x->window);
	struct shown *call;
	int got = 1;

	if (!x->is_begun && x->e->begin)
		x->e->begin(x->x, out);
	x->is_begun = 1;
	while (out->len < PUMP_BLOCK && !window_is_over(&x->window) &&
	       (got = view_next(x->view, &call, err)) > 0)
		if ((is_all ? put_call(x, call, out)
			    : put_windowed(x, call, out)) < 0)
			return cst_fail_memory(err);
	if (got < 0)
		return got;
	if (got && !window_is_over(&x->window))
		return 1;
	if (x->e->end && x->e->end(x->x, out) < 0)
		return cst_fail_memory(err);
	return out->failed ? cst_fail_memory(err) : 0;
}

int64_t exporter_run(const struct exporter *e, void *x,
		     const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err)
{
	struct exported run = {.e = e, .x = x, .t = t};
	int status = 0;

	if (e->has_window)
		status = window_init(&run.window, t, choice, err);
	if (status == 0)
		status = view_new_part(t, choice, &run.window.part,
				       e->is_by_lane, &run.view, err);
	if (status == 0)
		status = pipeline_run(exporter_fill, &run, write, arg, err);
	view_free(run.view);
	window_release(&run.window);
	return status == 0 ? run.n_calls : status;
}
