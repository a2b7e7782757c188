/* SPDX-License-Identifier: MIT
 *
 * A recorded trace: opened, asked what it holds, and freed.
 */
#include "trace/trace.h"
#include "base/outfile.h"
#include "base/text.h"
#include "file/cache_file.h"
#include "names/filter.h"
#include "names/near.h"
#include "names/where.h"
#include "names/wording.h"
#include "trace/answer.h"
#include "trace/async_times.h"
#include "trace/callid.h"
#include "trace/loader.h"
#include "trace/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- open and close ----------------------------------------------------- */

int trace_open(int fd, const char *path, struct cst_trace **out,
	       struct cst_error *err)
{
	struct cst_trace *t = calloc(1, sizeof(*t));
	int status;

	if (!t) {
		close(fd);
		return cst_fail_memory(err);
	}
	outfile_begin();
	t->fd = fd;
	t->path = path;
	status = loader_scan(t, err);
	t->answer = answer_new(); /* the loader may begin anew */
	t->async = async_times_new();
	if (status == 0 && (!t->answer || !t->async))
		status = cst_fail_memory(err);
	if (status < 0) {
		cst_trace_free(t);
		return status;
	}
	t->path = names_intern(t->names, path);
	if (!t->path) {
		cst_trace_free(t);
		return cst_fail_memory(err);
	}
	*out = t;
	return 0;
}

void cst_trace_free(struct cst_trace *t)
{
	if (!t)
		return;
	cache_file_remove(t->cache_path);
	cst_trace_free(t->as_calls);
	loader_release(t);
	answer_free(t->answer);
	async_times_free(t->async);
	free(t);
}

void cst_trace_status(const struct cst_trace *t, struct cst_status_report *out)
{
	*out = t->status;
	out->n_other = t->n_notes;
}

int cst_trace_is_complete(const struct cst_trace *t)
{
	return t->is_sealed;
}

void trace_set_stopped(struct cst_trace *t)
{
	t->is_stopped = 1;
}

void trace_set_status(struct cst_trace *t, const struct cst_status_report *s)
{
	t->status = *s;
}

int cst_trace_module(const struct cst_trace *t, uint32_t i,
		     struct cst_module *out)
{
	const struct trace_module *m;

	if (i >= t->n_modules)
		return 0;
	m = &t->modules[i];
	*out = (struct cst_module){
		.path = m->path,
		.build_id = m->build_id,
		.start = m->start,
		.end = m->end,
		.bias = m->bias,
		.space = m->space,
	};
	return 1;
}

static const char *text_or_null(const char *text)
{
	return text && *text ? text : NULL;
}

void cst_trace_choice(const struct cst_trace *t, struct cst_choice *choice)
{
	if (!choice->filter)
		choice->filter = text_or_null(t->filter);
	if (!choice->from && !choice->until) {
		choice->from = text_or_null(t->from);
		choice->until = text_or_null(t->until);
	}
	if (!choice->file)
		choice->file = text_or_null(t->in_file);
	if (!choice->module)
		choice->module = text_or_null(t->in_module);
	if (!choice->depth)
		choice->depth = t->depth;
	if (!choice->min_ns)
		choice->min_ns = t->min_ns;
}

const char *cst_trace_command(const struct cst_trace *t)
{
	return t->command;
}

const char *cst_trace_function(const struct cst_trace *t, uint32_t i)
{
	return i < t->names->n_functions ? t->names->functions[i].name : NULL;
}

char *cst_trace_value_names(const struct cst_trace *t, uint32_t i,
			    const char **simple)
{
	const struct function *f;
	char *out;

	if (i >= t->names->n_functions)
		return NULL;
	f = &t->names->functions[i];
	*simple = f->simple;
	if (asprintf(&out, "%.*s,result",
		     f->values ? (int)strcspn(f->values, "\n") : 0,
		     f->values ? f->values : "") < 0)
		return NULL;
	return out;
}

int cst_trace_has_function(const struct cst_trace *t, const char *word,
			   enum cst_names names, char *near, uint32_t size)
{
	struct wording w;
	int is_there = 0;

	if (size)
		*near = '\0';
	if (wording_init(&w, word, names, NULL) < 0)
		return 0;
	wording_learn(&w, t->names);
	for (uint32_t i = 0; i < t->names->n_functions && !is_there; i++)
		is_there = wording_matches(&w, &t->names->functions[i]);
	wording_release(&w);
	if (!is_there && size)
		wording_near(word, t->names, near, size);
	return is_there;
}

int cst_trace_has_values(const struct cst_trace *t, const char *where,
			 char *wrong, uint32_t size)
{
	struct where *w;
	int is_known;

	*wrong = '\0';
	if (where_new(where, &w, NULL) < 0)
		return 1; /* who shows calls by it says so */
	is_known = where_knows(w, t->names, wrong, size);
	where_free(w);
	return is_known;
}

/* Where a function may be looked for: its source file, or its module. */
struct part {
	const char *(*path)(const struct function *);
	int (*is_in)(const struct function *, const char *);
};

static const char *file_of(const struct function *f)
{
	return f->file;
}

static const char *module_of(const struct function *f)
{
	return f->module;
}

static int has_part(const struct cst_trace *t, const struct part *part,
		    const char *word, char *near, uint32_t size)
{
	const char *before = NULL;
	struct near n;

	*near = '\0';
	near_init(&n, text_last_name(word));
	for (uint32_t i = 0; i < t->names->n_functions; i++) {
		const struct function *f = &t->names->functions[i];
		const char *path = part->path(f);

		if (part->is_in(f, word))
			return 1;
		if (path && path != before) /* which are interned */
			near_offer(&n, text_last_name(path));
		before = path;
	}
	near_put(&n, near, size);
	return 0;
}

int cst_trace_has_file(const struct cst_trace *t, const char *word, char *near,
		       uint32_t size)
{
	return has_part(t, &(struct part){file_of, filter_is_in}, word, near,
			size);
}

int cst_trace_has_module(const struct cst_trace *t, const char *word,
			 char *near, uint32_t size)
{
	return has_part(t, &(struct part){module_of, filter_is_of}, word, near,
			size);
}

int cst_trace_thread(const struct cst_trace *t, uint32_t i,
		     struct cst_thread_info *out)
{
	const struct trace_thread *h;

	if (i >= t->n_threads)
		return 0;
	h = &t->threads[i];
	*out = (struct cst_thread_info){.process = h->process,
					.thread = h->ordinal,
					.pid = h->pid,
					.tid = h->tid,
					.name = h->name};
	return 1;
}

int cst_trace_call(const struct cst_trace *t, const char *id,
		   struct cst_call *out, struct cst_error *err)
{
	const struct call_site *s;
	const struct function *f;
	uint32_t site;
	int status = locate_id(t, id, &site, err);

	if (status < 0)
		return status;
	s = &t->names->sites[site];
	f = &t->names->functions[s->function];
	*out = (struct cst_call){.function = f->name,
				 .name = f->simple,
				 .symbol = f->symbol,
				 .module = f->module,
				 .file = s->file,
				 .addr = f->addr,
				 .line = s->line,
				 .is_exception = function_is_exception(f)};
	return 0;
}

/* ---- choices ------------------------------------------------------------ */

static int check_where(const char *text, struct cst_error *err)
{
	struct where *w;
	int status = where_new(text, &w, err);

	if (status == 0)
		where_free(w);
	return status;
}

int cst_choice_check(const struct cst_choice *choice, struct cst_error *err)
{
	struct filter *f;
	struct callid id;
	int status = filter_new(choice, &f, err);

	if (status < 0)
		return status;
	filter_free(f);
	if (choice->where)
		status = check_where(choice->where, err);
	if (status == 0 && choice->around)
		status = callid_parse(choice->around, &id, err);
	if (status == 0 && choice->root)
		status = callid_parse(choice->root, &id, err);
	if (status == 0 && choice->from && filter_is_id(choice->from))
		status = callid_parse(choice->from, &id, err);
	if (status == 0 && choice->until && filter_is_id(choice->until))
		status = callid_parse(choice->until, &id, err);
	if (status == 0 && choice->unfold)
		status = callid_parse(choice->unfold, &id, err);
	return status;
}
