/* SPDX-License-Identifier: MIT
 *
 * How another run of the program comes to a call again: by what a hook can
 * count, which knows of no numbers.
 */
#include "trace/callers.h"
#include "trace/locate.h"
#include "trace/walk.h"

#include <stdlib.h>
#include <string.h>

struct way {
	const struct cst_trace *t;
	struct callid id;
	uint32_t thread; /* its index */
	uint32_t site;	 /* of the call itself */
	uint32_t function;
	uint64_t nth, n_notes;
	int is_found;
	uint32_t block, at, depth;
};

static void count_run(struct way *w, const struct run *run)
{
	const struct names *n = w->t->names;

	for (uint32_t i = 0; i < run->n; i++) {
		const struct packed_call *c = &run->calls[i];
		uint64_t number =
			run->numbers ? run->numbers[i] : run->first_number + i;
		uint32_t function;

		if ((run->threads ? run->threads[i] : run->thread) !=
			    w->thread ||
		    c->is_seed || number > w->id.number)
			continue;
		function = n->sites[c->site].function;
		w->nth += function == w->function;
		w->n_notes += n->functions[function].kind != KIND_FUNCTION;
		if (number != w->id.number)
			continue;
		w->is_found = 1;
		w->block = run->block;
		w->at = run->at + i;
		w->depth = c->depth;
	}
}

static int count_all(struct way *w, struct cst_error *err)
{
	auto_free uint8_t *lanes = calloc(w->t->n_lanes + (size_t)1, 1);
	const struct walk_part part = {.lanes = lanes};
	struct walk *walk;
	struct run run;
	int status;

	if (!lanes)
		return cst_fail_memory(err);
	/* A coroutine's lane is any thread's. */
	for (uint32_t i = 0; i < w->t->n_lanes; i++)
		lanes[i] = w->t->lanes[i].ordinal ||
			   w->t->lanes[i].thread == w->thread;
	status = walk_new_part(w->t, &part, 1, &walk, err);
	if (status < 0)
		return status;
	while ((status = walk_next(walk, &run, err)) > 0)
		count_run(w, &run);
	walk_free(walk);
	if (status == 0 && !w->is_found)
		return cst_fail(CST_BAD_INPUT, err, "no such call");
	return status;
}

/* The names of the functions that are open there, the outermost first. */
static int write_path(const struct way *w, cst_write_fn write, void *arg,
		      struct cst_error *err)
{
	const struct names *n = w->t->names;
	struct caller *callers;
	int status =
		callers_find(w->t, w->block, w->at, w->depth, &callers, err);

	if (status < 0)
		return status;
	for (uint32_t i = 0; i <= w->depth && status == 0; i++) {
		uint32_t site = i < w->depth ? callers[i].call.site : w->site;
		const struct function *f =
			&n->functions[n->sites[site].function];

		if (f->kind != KIND_FUNCTION)
			continue;
		status = write(arg, f->name, strlen(f->name)) |
			 write(arg, "\n", 1);
	}
	callers_free(callers, w->depth);
	return status ? cst_fail(CST_INTERRUPTED, err, "interrupted") : 0;
}

static const struct trace_module *module_of(const struct cst_trace *t,
					    const struct function *f)
{
	for (uint32_t i = 0; i < t->n_modules; i++) {
		const struct trace_module *m = &t->modules[i];

		/* A function that needs no more looking up has none in the
		 * file. */
		if ((!f->space || m->space == f->space) &&
		    f->addr - m->start < m->end - m->start)
			return m;
	}
	return NULL;
}

static void fill(const struct way *w, struct cst_way *out)
{
	const struct names *n = w->t->names;
	const struct function *f = &n->functions[w->function];
	const struct trace_module *m = module_of(w->t, f);

	*out = (struct cst_way){
		.nth = w->nth,
		.nth_call = w->id.number - w->n_notes,
		.addr = f->addr,
		.module = m ? m->path : NULL,
		.build_id = m ? m->build_id : NULL,
		.file_addr = m ? f->addr - m->bias : 0,
		.name = f->simple,
		.process = w->id.process,
		.thread = w->id.thread,
		.kind = f->kind,
	};
}

int cst_trace_way(const struct cst_trace *t, const char *id,
		  struct cst_way *out, cst_write_fn write, void *arg,
		  struct cst_error *err)
{
	struct way w = {.t = t};
	uint64_t tick;
	int status = callid_parse(id, &w.id, err);

	if (status == 0 && w.id.is_seed)
		return cst_fail(CST_BAD_INPUT, err,
				"%.60s was open before the trace began: "
				"nothing counts it",
				id);
	if (status == 0)
		status = callid_thread(t, &w.id, &w.thread, err);
	if (status == 0)
		status = locate_call(t, &w.id, w.thread, &tick, &w.site, err);
	if (status < 0)
		return status;
	if (!status)
		return cst_fail(CST_BAD_INPUT, err,
				"no call %.60s in this trace", id);
	w.function = t->names->sites[w.site].function;
	status = count_all(&w, err);
	if (status == 0 && write)
		status = write_path(&w, write, arg, err);
	if (status == 0)
		fill(&w, out);
	return status;
}

int64_t cst_trace_newest(const struct cst_trace *t, uint32_t process,
			 uint32_t thread, struct cst_error *err)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i].process == process &&
		    t->threads[i].ordinal == thread)
			return locate_count(t, i, err);
	return 0;
}
