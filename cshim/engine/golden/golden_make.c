/* SPDX-License-Identifier: MIT
 *
 * A golden tree from a trace.  Neighbours that are alike with all below them
 * are one line with a count, and each subtree is held once: first the tree is
 * known, then its text goes out line by line.
 */
#include "base/bytes.h"
#include "base/array.h"
#include "base/outfile.h"
#include "diff/divergence_text.h"
#include "file/ours.h"
#include "golden/golden.h"
#include "golden/golden_options.h"
#include "golden/subtrees.h"
#include "trace/view.h"

#include <errno.h>
#include <stdlib.h>

enum { KEPT_RUNS = 512, PIECE = 64 << 10, MOST_RUNS = 4 << 20 };

/* An open call: what it called so far. */
struct frame {
	struct shape_run *runs;
	uint32_t n, cap;
	uint64_t n_bytes; /* of them, at least */
	struct shown call;
};

/* A level of what is written: runs that are left. */
struct level {
	const struct shape_run *runs;
	uint32_t n;
};

/* A thread's calls. */
struct section {
	uint32_t thread; /* index */
	uint32_t shape;	 /* of no function */
};

struct maker {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct subtrees shapes;
	struct frame *frames; /* frames[0]: the thread */
	uint32_t n, cap;
	struct level *levels; /* as many as there are frames */
	struct section *sections;
	uint32_t n_sections, cap_sections;
	uint32_t thread; /* index, or UINT32_MAX: none yet */
	uint64_t n_runs; /* of open calls */
	uint64_t n_bytes;
	struct bytes line;
	struct bytes out; /* not yet written */
	cst_write_fn write;
	void *arg;
	struct outfile file;
};

/* ---- lines -------------------------------------------------------------- */

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

static void put_expected(const struct maker *m, uint32_t function, uint32_t end,
			 struct bytes *out)
{
	put_pattern(out, m->t->names->functions[function].name);
	if (call_end_sort((uint8_t)end) != CALL_RETURN)
		put_words(out, "  (%s)", end == CALL_OPEN ? "open" : "unwound");
}

static void put_count(struct bytes *out, uint64_t n)
{
	if (n > 1)
		put_words(out, "  x%llu", (unsigned long long)n);
}

/* Threads are numbered as they come: which of several is the first to make a
 * call can be another in each run. */
static int is_one_of_many(const struct maker *m,
			  const struct trace_thread *thread)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->t->n_threads && n < 2; i++)
		n += m->t->threads[i].process == 1 &&
		     m->t->threads[i].ordinal > 1;
	return n > 1 && thread->process == 1 && thread->ordinal > 1;
}

/* "" for the only thread. */
static void put_heading(const struct maker *m, const struct section *s,
			struct bytes *out)
{
	const struct trace_thread *thread = &m->t->threads[s->thread];

	if (m->t->n_threads == 1 && thread->process == 1 &&
	    thread->ordinal == 1)
		return;
	put_words(out, s == m->sections ? "thread " : "\nthread ");
	if (is_one_of_many(m, thread)) {
		put_words(out, "?:\n");
		return;
	}
	if (thread->process > 1)
		put_words(out, "%u:", thread->process);
	put_words(out, "%u:\n", thread->ordinal);
}

/* ---- the tree ----------------------------------------------------------- */

static int too_long(struct cst_error *err)
{
	return cst_fail(CST_BAD_INPUT, err,
			"the golden tree would be too long (over %d MB): "
			"choose less with depth or filter",
			GOLDEN_MOST_BYTES >> 20);
}

/* What the lines of these take, so much indented. */
static void measure(struct maker *m, const struct shape_run *runs, uint32_t n,
		    struct shape *out)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct shape *s = &m->shapes.all[runs[i].shape];

		m->line.len = 0;
		put_count(&m->line, runs[i].n);
		out->n_lines += s->n_lines;
		out->n_bytes += s->n_bytes + m->line.len;
	}
}

/* The shape of a call that is over. */
static uint32_t frame_shape(struct maker *m, const struct frame *f)
{
	struct shape shape = {.n_runs = f->n,
			      .end = call_end_sort(f->call.end)};

	measure(m, f->runs, f->n, &shape);
	shape.n_bytes += 2 * shape.n_lines++;
	shape.function = m->t->names->sites[f->call.site].function;
	m->line.len = 0;
	put_expected(m, shape.function, shape.end, &m->line);
	shape.n_bytes += m->line.len + 1;
	return subtrees_add(&m->shapes, &shape, f->runs);
}

static int frame_add(struct maker *m, struct frame *f, uint32_t shape)
{
	struct shape_run *last = f->n ? &f->runs[f->n - 1] : NULL;

	if (last && last->shape == shape) {
		last->n++;
		return 0;
	}
	if (array_room(&f->runs, &f->cap, f->n + 1ull) < 0)
		return CST_MEMORY;
	f->runs[f->n++] = (struct shape_run){.shape = shape, .n = 1};
	f->n_bytes += m->shapes.all[shape].n_bytes;
	m->n_runs++;
	return 0;
}

static void frame_clear(struct maker *m, struct frame *f)
{
	m->n_runs -= f->n;
	f->n = 0;
	f->n_bytes = 0;
	/* Few are large, and those need not stay. */
	if (f->cap > KEPT_RUNS) {
		free(f->runs);
		f->runs = NULL;
		f->cap = 0;
	}
}

static int leave(struct maker *m, struct cst_error *err)
{
	struct frame *f = &m->frames[--m->n];
	uint32_t shape = frame_shape(m, f);

	if (shape == SHAPE_NONE || m->line.failed)
		return cst_fail_memory(err);
	frame_clear(m, f);
	if (frame_add(m, f - 1, shape) < 0)
		return cst_fail_memory(err);
	return f[-1].n_bytes > GOLDEN_MOST_BYTES ||
			       m->n_runs + m->shapes.n_runs > MOST_RUNS
		       ? too_long(err)
		       : 0;
}

static int enter(struct maker *m, const struct shown *call,
		 struct cst_error *err)
{
	uint32_t cap = m->cap;

	if (m->n >= GOLDEN_MOST_LEVELS)
		return cst_fail(CST_BAD_INPUT, err,
				"the golden tree would be deeper than %d "
				"levels: choose less with depth or filter",
				GOLDEN_MOST_LEVELS);
	if (array_room(&m->frames, &m->cap, m->n + 1ull) < 0)
		return cst_fail_memory(err);
	/* What a frame held is used again. */
	if (m->cap > cap)
		memset(m->frames + cap, 0, (m->cap - cap) * sizeof(*m->frames));
	m->frames[m->n++].call = *call;
	return 0;
}

static int unwind(struct maker *m, uint32_t depth, struct cst_error *err)
{
	int status = 0;

	while (status == 0 && m->n > 1 &&
	       m->frames[m->n - 1].call.depth >= depth)
		status = leave(m, err);
	return status;
}

static int end_thread(struct maker *m, struct cst_error *err)
{
	struct frame *root = &m->frames[0];
	struct shape shape = {.function = UINT32_MAX};
	struct section *s;
	int status = unwind(m, 0, err);

	if (status < 0 || m->thread == UINT32_MAX)
		return status;
	if (array_room(&m->sections, &m->cap_sections, m->n_sections + 1ull) <
	    0)
		return cst_fail_memory(err);
	shape.n_runs = root->n;
	measure(m, root->runs, root->n, &shape);
	s = &m->sections[m->n_sections++];
	*s = (struct section){m->thread,
			      subtrees_add(&m->shapes, &shape, root->runs)};
	m->line.len = 0;
	put_heading(m, s, &m->line);
	m->n_bytes += m->line.len + shape.n_bytes;
	frame_clear(m, root);
	if (s->shape == SHAPE_NONE || m->line.failed)
		return cst_fail_memory(err);
	return m->n_bytes > GOLDEN_MOST_BYTES ? too_long(err) : 0;
}

static int take_call(struct maker *m, const struct shown *call,
		     struct cst_error *err)
{
	uint32_t thread = m->t->lanes[call->lane].thread;
	int status = 0;

	if (thread != m->thread)
		status = end_thread(m, err);
	m->thread = thread;
	if (status == 0)
		status = unwind(m, call->depth, err);
	return status == 0 ? enter(m, call, err) : status;
}

static int make_all(struct maker *m, struct view *v, struct cst_error *err)
{
	const struct shown root = {0};
	struct shown *call;
	int got = 1, status = enter(m, &root, err);

	while (status == 0 && (got = view_next(v, &call, err)) > 0)
		status = take_call(m, call, err);
	if (status == 0)
		status = got < 0 ? got : end_thread(m, err);
	if (status == 0 && m->thread == UINT32_MAX)
		status = cst_fail(CST_EMPTY, err, "there is no call to expect");
	return status;
}

/* ---- the text ----------------------------------------------------------- */

static int flush(struct maker *m, size_t size)
{
	int status;

	if (m->out.failed)
		return CST_MEMORY;
	if (m->out.len < size)
		return 0;
	status = m->write(m->arg, (const char *)m->out.data, m->out.len);
	m->out.len = 0;
	return status < 0 ? CST_INTERRUPTED : 0;
}

static void write_run(struct maker *m, uint32_t depth,
		      const struct shape_run *run)
{
	const struct shape *s = &m->shapes.all[run->shape];

	for (uint32_t i = 0; i < depth; i++)
		bytes_put(&m->out, "  ", 2);
	put_expected(m, s->function, s->end, &m->out);
	put_count(&m->out, run->n);
	bytes_put_byte(&m->out, '\n');
}

/* Each level that is under way has a frame: what is left of its runs. */
static int write_shape(struct maker *m, uint32_t shape)
{
	const struct subtrees *all = &m->shapes;
	uint32_t depth = 0;

	while (1) {
		const struct shape *s = &all->all[shape];
		struct level *l;
		int status;

		if (s->n_runs)
			m->levels[depth++] = (struct level){
				all->runs + s->first_run, s->n_runs};
		for (l = m->levels + depth; depth && !l[-1].n; l--)
			depth--;
		if (!depth)
			return 0;
		write_run(m, depth - 1, l[-1].runs);
		status = flush(m, PIECE);
		if (status < 0)
			return status;
		shape = l[-1].runs++->shape;
		l[-1].n--;
	}
}

static int write_all(struct maker *m)
{
	int status = 0;

	golden_options_put(m->choice, &m->out);
	for (uint32_t i = 0; status == 0 && i < m->n_sections; i++) {
		put_heading(m, &m->sections[i], &m->out);
		status = write_shape(m, m->sections[i].shape);
	}
	return status < 0 ? status : flush(m, 1);
}

static int write_out(struct maker *m, const char *path, struct cst_error *err)
{
	int status;

	if (path) {
		status = outfile_open(&m->file, path, err);
		if (status < 0)
			return status;
		m->write = outfile_write;
		m->arg = &m->file;
	}
	status = write_all(m);
	if (path && status < 0)
		outfile_abandon(&m->file);
	if (status == CST_MEMORY)
		return cst_fail_memory(err);
	if (status < 0 && !path)
		return cst_fail(CST_INTERRUPTED, err, "interrupted");
	if (status < 0) {
		errno = m->file.error;
		return cst_fail_sys(err, "cannot write '%.300s'", path);
	}
	return path ? outfile_commit(&m->file, err) : 0;
}

static void maker_release(struct maker *m)
{
	for (uint32_t i = 0; i < m->cap; i++)
		free(m->frames[i].runs);
	free(m->frames);
	free(m->levels);
	free(m->sections);
	subtrees_release(&m->shapes);
	bytes_release(&m->line);
	bytes_release(&m->out);
}

/* ---- what is replaced --------------------------------------------------- */

static int is_called(const struct names *names,
		     const struct golden_pattern *pattern)
{
	for (uint32_t i = 0; i < names->n_functions; i++)
		if (golden_matches(pattern, names->functions[i].name) ||
		    golden_matches(pattern, names->functions[i].simple))
			return 1;
	return 0;
}

/* Whatever has lines could be a golden tree: one of this program begins with a
 * function that it calls, or with words that nothing else has.  Returns 1, 0 or
 * CST_MEMORY. */
static int is_golden(const struct cst_trace *t, const char *path)
{
	struct cst_error err;
	struct golden g;
	int status = golden_read(&g, path, &err);
	int is_good = status == 0;

	for (uint32_t i = 0; is_good && i < g.n_items; i++)
		if (g.items[i].kind == ITEM_CALL) {
			is_good = is_called(t->names,
					    &g.patterns[g.items[i].pattern]);
			break;
		}
	golden_release(&g);
	return status == CST_MEMORY ? status : is_good;
}

int cst_trace_golden(struct cst_trace *t, const char *path, uint32_t is_forced,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err)
{
	struct maker m = {.t = t,
			  .choice = choice,
			  .thread = UINT32_MAX,
			  .write = write,
			  .arg = arg};
	struct view *v = NULL;
	int status = 1;

	if (path && !is_forced && !ours_is_nothing(path))
		status = is_golden(t, path);
	if (status < 0)
		return cst_fail_memory(err);
	if (!status)
		return cst_fail(CST_EXISTS, err,
				"'%.300s' is there, and is no golden tree of "
				"this program",
				path);
	outfile_begin();
	status = view_new(t, choice, 1, &v, err);
	if (status == 0)
		status = make_all(&m, v, err);
	view_free(v);
	if (status == 0) {
		m.levels = calloc(m.cap, sizeof(*m.levels));
		status = m.levels ? write_out(&m, path, err)
				  : cst_fail_memory(err);
	}
	maker_release(&m);
	return status;
}
