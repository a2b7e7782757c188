/* SPDX-License-Identifier: MIT
 *
 * A golden tree from a trace.  Neighbours that are alike with all below them
 * are one line with a count: a call is put into its caller's text when the
 * next one is known to differ, so that only what is open, folded, is held.
 */
#include "bytes.h"
#include "parting_text.h"
#include "row.h"
#include "sink.h"
#include "view.h"

#include <stdlib.h>

enum { BATCH = 512, MOST_BYTES = 16 << 20 };

/* An open call: what it called so far. */
struct frame {
	struct bytes text; /* of all children but the last */
	struct bytes last; /* of the last one: its line, its children */
	size_t n_line;	   /* of that line, without its newline */
	uint64_t n_alike;
	struct shown call;
};

struct maker {
	const struct cst_trace *t;
	struct frame *frames; /* frames[0]: the thread */
	uint32_t n, cap;
	uint32_t thread; /* index, or UINT32_MAX: none yet */
	struct bytes out;
};

/* The last child's text goes to the others. */
static void flush_last(struct frame *f)
{
	if (f->n_alike) {
		bytes_put(&f->text, f->last.data, f->n_line);
		if (f->n_alike > 1)
			put_words(&f->text, "  x%llu",
				  (unsigned long long)f->n_alike);
		bytes_put(&f->text, f->last.data + f->n_line,
			  f->last.len - f->n_line);
	}
	f->n_alike = 0;
	f->last.len = 0;
}

static int is_plain_name(const char *name)
{
	return !strchr("!/#", *name) && strcmp(name, "...") != 0 &&
	       strcmp(name, "unordered:") != 0;
}

/* A name that would be read as something else becomes a regex. */
static void put_pattern(struct bytes *out, const char *name)
{
	if (is_plain_name(name)) {
		put_name(out, name);
		return;
	}
	put_words(out, "/^");
	for (; *name; name++) {
		if (strchr("\\^$.[]|()*+?{}", *name))
			bytes_put_byte(out, '\\');
		bytes_put_byte(out, (uint8_t)*name);
	}
	put_words(out, "$/");
}

static void put_line(struct maker *m, const struct frame *f, uint32_t depth,
		     struct bytes *out)
{
	const struct names *names = m->t->names;
	uint32_t function = names->sites[f->call.site].function;

	put_words(out, "%*s", (int)(depth * 2 < 500 ? depth * 2 : 0), "");
	if (depth * 2 >= 500)
		for (uint32_t i = 0; i < depth; i++)
			put_words(out, "  ");
	put_pattern(out, names->functions[function].name);
	if (f->call.end != CALL_RETURN)
		put_words(out, "  (%s)",
			  f->call.end == CALL_OPEN ? "open" : "unwound");
}

/* The call on top is over: its text becomes its caller's last, or one more of
 * it. */
static int leave(struct maker *m, struct bytes *scratch, struct cst_error *err)
{
	struct frame *f = &m->frames[m->n - 1], *above = f - 1;
	size_t n_line;

	flush_last(f);
	scratch->len = 0;
	put_line(m, f, m->n - 2, scratch);
	n_line = scratch->len;
	bytes_put_byte(scratch, '\n');
	bytes_put(scratch, f->text.data, f->text.len);
	f->text.len = 0;
	m->n--;
	if (!above->n_alike || above->n_line != n_line ||
	    above->last.len != scratch->len ||
	    memcmp(above->last.data, scratch->data, scratch->len) != 0) {
		flush_last(above);
		bytes_put(&above->last, scratch->data, scratch->len);
		above->n_line = n_line;
	}
	above->n_alike++;
	if (scratch->failed || above->last.failed || above->text.failed)
		return cst_fail_memory(err);
	if (above->text.len + above->last.len > MOST_BYTES)
		return cst_fail(CST_BAD_INPUT, err,
				"the golden tree would be too long: choose "
				"less with depth or filter");
	return 0;
}

static int enter(struct maker *m, const struct shown *call,
		 struct cst_error *err)
{
	uint32_t cap = m->cap;

	if (loader_grow(&m->frames, sizeof(*m->frames), m->n, &m->cap) < 0)
		return cst_fail_memory(err);
	/* What a frame held is used again. */
	if (m->cap > cap)
		memset(m->frames + cap, 0, (m->cap - cap) * sizeof(*m->frames));
	m->frames[m->n++].call = *call;
	return 0;
}

static int unwind(struct maker *m, uint32_t depth, struct bytes *scratch,
		  struct cst_error *err)
{
	int status = 0;

	while (status == 0 && m->n > 1 &&
	       m->frames[m->n - 1].call.depth >= depth)
		status = leave(m, scratch, err);
	return status;
}

static int end_thread(struct maker *m, struct bytes *scratch,
		      struct cst_error *err)
{
	const struct trace_thread *thread;
	int status = unwind(m, 0, scratch, err);

	if (status < 0 || m->thread == UINT32_MAX)
		return status;
	thread = &m->t->threads[m->thread];
	flush_last(&m->frames[0]);
	if (m->t->n_threads > 1 || thread->process != 1 ||
	    thread->ordinal != 1) {
		put_words(&m->out, m->out.len ? "\nthread " : "thread ");
		if (thread->process > 1)
			put_words(&m->out, "%u:", thread->process);
		put_words(&m->out, "%u:\n", thread->ordinal);
	}
	bytes_put(&m->out, m->frames[0].text.data, m->frames[0].text.len);
	m->frames[0].text.len = 0;
	return m->out.failed ? cst_fail_memory(err) : 0;
}

static int take_call(struct maker *m, const struct shown *call,
		     struct bytes *scratch, struct cst_error *err)
{
	uint32_t thread = m->t->lanes[call->lane].thread;
	int status = 0;

	if (thread != m->thread)
		status = end_thread(m, scratch, err);
	m->thread = thread;
	if (status == 0)
		status = unwind(m, call->depth, scratch, err);
	return status == 0 ? enter(m, call, err) : status;
}

static int make_all(struct maker *m, struct view *v, struct cst_error *err)
{
	struct shown batch[BATCH];
	struct bytes scratch = {0};
	const struct shown root = {0};
	int n = 1, status = enter(m, &root, err);

	while (status == 0 && (n = view_next(v, batch, BATCH, err)) > 0)
		for (int i = 0; i < n && status == 0; i++)
			status = take_call(m, &batch[i], &scratch, err);
	if (status == 0)
		status = n < 0 ? n : end_thread(m, &scratch, err);
	bytes_release(&scratch);
	if (status == 0 && m->thread == UINT32_MAX)
		status = cst_fail(CST_EMPTY, err, "there is no call to expect");
	return status;
}

static int write_out(const struct maker *m, const char *path,
		     cst_write_fn write, void *arg, struct cst_error *err)
{
	struct sink_file file;

	if (!path)
		return write(arg, (const char *)m->out.data, m->out.len) < 0
			       ? cst_fail(CST_INTERRUPTED, err, "interrupted")
			       : 0;
	if (sink_open(&file, path, err) < 0)
		return CST_FAILED;
	if (sink_write(&file, (const char *)m->out.data, m->out.len) < 0) {
		sink_abandon(&file);
		return cst_fail_sys(err, "cannot write '%.300s'", path);
	}
	return sink_commit(&file, err);
}

int cst_trace_golden(struct cst_trace *t, const char *path,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err)
{
	struct maker m = {.t = t, .thread = UINT32_MAX};
	struct view *v = NULL;
	int status;

	sink_begin();
	status = view_new(t, choice, 1, &v, err);
	if (status == 0)
		status = make_all(&m, v, err);
	if (status == 0)
		status = write_out(&m, path, write, arg, err);
	for (uint32_t i = 0; i < m.cap; i++) {
		bytes_release(&m.frames[i].text);
		bytes_release(&m.frames[i].last);
	}
	free(m.frames);
	bytes_release(&m.out);
	view_free(v);
	return status;
}
