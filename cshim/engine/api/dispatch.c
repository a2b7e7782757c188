/* SPDX-License-Identifier: MIT
 *
 * The public functions that only pass a trace on: to the room that loads its
 * kind of file, or to the one that writes what the caller asks for.
 */
#include "base/outfile.h"
#include "base/progress.h"
#include "formats/formats.h"
#include "formats/text.h"
#include "names/simple.h"
#include "recorder/corearea.h"
#include "recorder/rawarea.h"
#include "report/call_list.h"
#include "report/calltree_put.h"
#include "report/report.h"
#include "report/sample_report.h"
#include "report/sample_stacks.h"
#include "trace/answer.h"
#include "trace/loader.h"
#include "trace/sample_calls.h"
#include "trace/sources.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <unistd.h>

int cst_trace_load(const char *path, struct cst_trace **out,
		   struct cst_error *err)
{
	/* A pipe nobody writes to must not hang the session. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int status;

	if (fd < 0)
		return cst_fail_sys(err, "cannot open '%.300s'", path);
	if (corearea_is(fd)) {
		status = corearea_open(fd, path, err);
		close(fd);
		if (status < 0)
			return status;
		fd = status;
	}
	if (rawarea_is(fd)) {
		status = rawarea_load(fd, path, out, err);
		close(fd);
		return status;
	}
	return trace_open(fd, path, out, err);
}

/* A write callback, and whether it was what ended the writing. */
struct outlet {
	cst_write_fn write;
	void *arg;
	int is_ended;
};

static int outlet_write(void *arg, const char *text, uint64_t size)
{
	struct outlet *o = arg;

	o->is_ended = o->write(o->arg, text, size) < 0;
	return o->is_ended ? CST_INTERRUPTED : 0;
}

/* The result n of what wrote there, or that it was interrupted. */
static int64_t outlet_end(const struct outlet *o, int64_t n,
			  struct cst_error *err)
{
	return o->is_ended ? cst_fail(CST_INTERRUPTED, err, "interrupted") : n;
}

static void rows_begin(struct cst_trace *t, const struct cst_look *look)
{
	outfile_begin();
	answer_begin(t->answer);
	if (look->links)
		sources_find(t);
}

int64_t cst_trace_show(struct cst_trace *t, const struct cst_look *look,
		       const struct cst_choice *choice, cst_write_fn write,
		       void *arg, struct cst_error *err)
{
	struct outlet outlet = {write, arg, 0};
	int64_t n;

	rows_begin(t, look);
	n = text_write(t, look, choice, 1, outlet_write, &outlet, err);
	return outlet_end(&outlet, n, err);
}

static void progress_of(const struct cst_trace *t)
{
	progress_begin(t->status.n_calls + t->status.n_seeds);
}

int64_t cst_trace_report(struct cst_trace *t, const struct cst_report *report,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	outfile_begin();
	progress_of(t);
	answer_begin(t->answer);
	if (sample_calls_wanted(t, choice))
		return sample_report_write(t, report, choice, write, arg, err);
	return report_write(t, report, choice, write, arg, err);
}

int64_t cst_trace_stacks(struct cst_trace *t, const struct cst_choice *choice,
			 int is_line, cst_write_fn write, void *arg,
			 struct cst_error *err)
{
	outfile_begin();
	return sample_stacks_write(t, choice, is_line, write, arg, err);
}

/* What is made of calls can be made of samples.  Then the choice becomes *seen:
 * the C++ library's functions are shown, for time is spent there. */
static int take_samples(struct cst_trace **t, const struct cst_choice **choice,
			struct cst_choice *seen, struct cst_error *err)
{
	if (!sample_calls_wanted(*t, *choice))
		return 0;
	*seen = **choice;
	seen->std = 1;
	*choice = seen;
	*t = sample_calls_of(*t, err);
	return *t ? 0 : CST_FAILED;
}

int64_t cst_trace_graph(struct cst_trace *t, const struct cst_graph *graph,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err)
{
	struct cst_choice seen;

	outfile_begin();
	progress_of(t);
	if (take_samples(&t, &choice, &seen, err) < 0)
		return CST_FAILED;
	return calltree_write(t, graph, choice, write, arg, err);
}

int64_t cst_trace_calls(struct cst_trace *t, const struct cst_calls *calls,
			const struct cst_look *look,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err)
{
	struct outlet outlet = {write, arg, 0};
	int64_t n;

	rows_begin(t, look);
	progress_of(t);
	n = call_list_write(t, calls, look, choice, outlet_write, &outlet, err);
	return outlet_end(&outlet, n, err);
}

/* ---- save --------------------------------------------------------------- */

int64_t cst_trace_save(struct cst_trace *t, const char *path,
		       const char *format, const struct cst_look *look,
		       const struct cst_choice *choice, struct cst_error *err)
{
	const struct format *f = formats_find(path, format, err);
	struct cst_choice seen;

	if (!f)
		return CST_BAD_INPUT;
	outfile_begin();
	answer_begin(t->answer);
	if (!format_takes_samples(f) &&
	    take_samples(&t, &choice, &seen, err) < 0)
		return CST_FAILED;
	return format_save(f, t, path, look, choice, err);
}

int64_t cst_trace_write(struct cst_trace *t, const char *format,
			const struct cst_look *look,
			const struct cst_choice *choice, cst_write_fn write,
			void *arg, struct cst_error *err)
{
	const struct format *f = formats_find("", format, err);
	struct outlet outlet = {write, arg, 0};
	struct cst_choice seen;
	int64_t n;

	if (!f)
		return CST_BAD_INPUT;
	outfile_begin();
	answer_begin(t->answer);
	if (!format_takes_samples(f) &&
	    take_samples(&t, &choice, &seen, err) < 0)
		return CST_FAILED;
	n = format_write(f, t, look, choice, outlet_write, &outlet, err);
	return outlet_end(&outlet, n, err);
}

void cst_simple_name(const char *name, char *out, uint64_t size)
{
	simple_name(name, out, (unsigned)size);
}

/* ---- what was inlined -----------------------------------------------------
 */

/* The distribution's libraries are many, and seldom meant. */
uint32_t cst_trace_inlined(const struct cst_trace *t, const char *word,
			   enum cst_names names)
{
	struct cst_error unused;
	struct cst_module m;
	uint32_t n = 0;

	for (uint32_t i = 0; !n && cst_trace_module(t, i, &m) > 0; i++)
		if (*m.path && *m.build_id &&
		    cst_plan_wants(m.path, NULL, &unused) > 0)
			n = cst_file_inlined(m.path, m.build_id, word, names);
	return n;
}
