/* SPDX-License-Identifier: MIT
 *
 * Goes through a trace once: notes begins and ends, which lie in lanes of their
 * own, and takes them in order of time.
 */
#include "trace/async_times.h"
#include "base/array.h"
#include "names/async_spans.h"
#include "trace/view.h"

#include <stdlib.h>

struct async_event {
	uint64_t place; /* where its call is: place_of() */
	uint64_t key, at;
	uint64_t ticks;		   /* of its span */
	uint8_t is_end, has_other; /* its other half is there */
};

struct async_times {
	struct async_event *all;
	uint32_t n, cap;
	struct hashmap index; /* by place */
	int is_found;
};

static uint64_t place_of(const struct run *run, uint32_t i)
{
	return (uint64_t)(run->block + 1) << 32 | (run->at + i);
}

struct async_times *async_times_new(void)
{
	return calloc(1, sizeof(struct async_times));
}

void async_times_free(struct async_times *a)
{
	if (!a)
		return;
	free(a->all);
	hashmap_release(&a->index);
	free(a);
}

static int note_event(const struct cst_trace *t, const struct run *run,
		      uint32_t i, const struct function *f)
{
	struct async_times *a = t->async;
	const struct packed_call *c = &run->calls[i];
	const struct valued *v = NULL;

	if (c->has_values && run->values)
		v = block_values_of(run->values, run->at + i);
	if (!v)
		return 0;
	if (array_room(&a->all, &a->cap, a->n + 1ull) < 0)
		return CST_MEMORY;
	a->all[a->n] = (struct async_event){
		.place = place_of(run, i),
		.key = async_spans_key(t->lanes[run->lane].process, f,
				       run->values->bytes.data + v->at, v->n),
		.at = c->start,
		.is_end = f->kind == KIND_ASYNC_END,
	};
	a->n += a->all[a->n].key != 0;
	return 0;
}

static int note_events(const struct cst_trace *t, struct cst_error *err)
{
	const struct names *names = t->names;
	struct walk *w;
	struct run run;
	int status = walk_new(t, 1, &w, err);

	if (status < 0)
		return status;
	while (status == 0 && (status = walk_next(w, &run, err)) > 0) {
		status = 0;
		for (uint32_t i = 0; i < run.n && status == 0; i++) {
			const struct function *f =
				&names->functions
					 [names->sites[run.calls[i].site]
						  .function];

			if (function_is_async(f) &&
			    note_event(t, &run, i, f) < 0)
				status = cst_fail_memory(err);
		}
	}
	walk_free(w);
	return status;
}

/* A begin comes before an end of the same tick. */
static int compare_times(const void *a, const void *b)
{
	const struct async_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end - y->is_end;
	return x->place < y->place ? -1 : 1;
}

static int pair(struct async_times *a)
{
	struct async_spans open = {0};
	int status = 0;

	for (uint32_t i = 0; i < a->n && status == 0; i++) {
		struct async_event *e = &a->all[i], *begin;
		uint64_t at;

		status = hashmap_put(&a->index, e->place, i);
		if (status == 0 && !e->is_end)
			status = async_spans_begin(&open, e->key, i);
		else if (status == 0 && async_spans_end(&open, e->key, &at)) {
			begin = &a->all[at];
			begin->has_other = e->has_other = 1;
			begin->ticks = e->ticks = e->at - begin->at;
		}
	}
	async_spans_release(&open);
	return status;
}

int async_times_find(const struct cst_trace *t, struct cst_error *err)
{
	struct async_times *a = t->async;
	int has_async = 0, status;

	if (!a || a->is_found)
		return 0;
	for (uint32_t i = 0; i < t->names->n_functions && !has_async; i++)
		has_async = t->names->functions[i].kind == KIND_ASYNC;
	status = has_async ? note_events(t, err) : 0;
	if (status == 0 && a->n) {
		qsort(a->all, a->n, sizeof(*a->all), compare_times);
		status = pair(a) < 0 ? cst_fail_memory(err) : 0;
	}
	a->is_found = status == 0;
	return status;
}

void async_times_of(const struct cst_trace *t, const struct run *run,
		    uint32_t i, const struct packed_call *c, uint64_t *ns,
		    uint8_t *end)
{
	const uint32_t *at =
		t->async ? hashmap_get(&t->async->index, place_of(run, i))
			 : NULL;
	const struct async_event *e = at ? &t->async->all[*at] : NULL;
	uint64_t last = t->lanes[run->lane].end_ticks;

	if (!e)
		return;
	if (e->has_other) {
		*ns = trace_ns(t, e->ticks);
	} else if (!e->is_end) {
		*ns = last > c->start ? trace_ns(t, last - c->start) : 0;
		*end = CALL_OPEN;
	}
}
