/* SPDX-License-Identifier: MIT
 *
 * Writes a line for each thread and its stack below, indented as in the tree,
 * or behind it.
 */
#include "report/sample_stacks.h"
#include "base/array.h"
#include "base/number.h"
#include "rows/row.h"
#include "trace/loader.h"
#include "trace/thread_choice.h"
#include "trace/walk.h"

#include <stdlib.h>

enum { NAME_ROOM = 3000, DEEPEST = 40 };

struct stacks {
	const struct cst_trace *t;
	const struct trace_sample **last; /* by thread, or NULL */
	struct bytes out;
	int is_line;
	uint32_t *nodes;
	uint32_t cap;
};

static void find_last(struct stacks *s, const struct cst_choice *choice)
{
	const struct trace_samples *samples = &s->t->samples;
	struct walk_part range = walk_range(s->t, choice);

	for (uint32_t i = 0; i < samples->n; i++) {
		const struct trace_sample *sample = &samples->all[i];
		const struct trace_sample **last = &s->last[sample->thread];

		if (sample->tick < range.from ||
		    (range.until && sample->tick > range.until))
			continue;
		if (!*last || sample->tick >= (*last)->tick)
			*last = sample;
	}
}

/* Without the blanks that rows have before it. */
static char *put_seconds(char *p, uint64_t ns)
{
	char text[24], *end = number_put_seconds(text, ns), *from = text;

	while (*from == ' ')
		from++;
	memcpy(p, from, (size_t)(end - from));
	return p + (end - from);
}

/* Puts a text like "t1: app (123". */
static char *put_name(char *p, const struct trace_thread *t)
{
	p = row_put_thread(p, t->process, t->ordinal);
	memcpy(p, ": ", 2);
	p = row_put_text(p + 2, t->name, 100);
	memcpy(p, " (", 2);
	return number_put(p + 2, t->tid);
}

static void put_thread(struct stacks *s, const struct trace_thread *t,
		       uint64_t tick)
{
	char *begin = (char *)bytes_reserve(&s->out, ROW_MAX), *p = begin;

	if (!begin)
		return;
	memcpy(p, "# ", 2);
	p = put_name(p + 2, t);
	memcpy(p, "), at ", 6);
	p = put_seconds(p + 6, trace_ns(s->t, tick - s->t->start_ticks));
	memcpy(p, " s\n", 3);
	p += 3;
	s->out.len += (size_t)(p - begin);
}

/* Puts a line like "t1: app (123)  inner < outer". */
static int put_line(struct stacks *s, const struct trace_sample *sample)
{
	const struct trace_samples *samples = &s->t->samples;
	const struct trace_thread *t = &s->t->threads[sample->thread];
	char *begin = (char *)bytes_reserve(&s->out, ROW_MAX), *p = begin;

	if (!begin)
		return CST_MEMORY;
	p = put_name(p, t);
	*p++ = ')';
	*p++ = ' ';
	s->out.len += (size_t)(p - begin);
	for (uint32_t node = sample->node; node;
	     node = samples->nodes[node].parent) {
		begin = p = (char *)bytes_reserve(&s->out, ROW_MAX);
		if (!begin)
			return CST_MEMORY;
		memcpy(p, node == sample->node ? " " : " < ", 3);
		p = row_put_function(p + (node == sample->node ? 1 : 3),
				     s->t->names,
				     samples_function(samples, node),
				     CST_NAMES_SIMPLE, NAME_ROOM);
		s->out.len += (size_t)(p - begin);
	}
	bytes_put(&s->out, "\n", 1);
	return 0;
}

static void put_frame(struct stacks *s, uint32_t depth, uint32_t function)
{
	char *begin = (char *)bytes_reserve(&s->out, ROW_MAX), *p = begin;
	uint32_t blanks = 2 * (depth < DEEPEST ? depth : DEEPEST);

	if (!begin)
		return;
	memset(p, ' ', blanks);
	p = row_put_function(p + blanks, s->t->names, function,
			     CST_NAMES_SIMPLE, NAME_ROOM);
	*p++ = '\n';
	s->out.len += (size_t)(p - begin);
}

static int put_stack(struct stacks *s, const struct trace_sample *sample)
{
	const struct trace_samples *samples = &s->t->samples;
	uint32_t n = 0, depth = 0;

	if (s->is_line)
		return put_line(s, sample);
	put_thread(s, &s->t->threads[sample->thread], sample->tick);
	for (uint32_t node = sample->node; node;
	     node = samples->nodes[node].parent) {
		if (array_room(&s->nodes, &s->cap, n + 1ull) < 0)
			return CST_MEMORY;
		s->nodes[n++] = node;
	}
	while (n--)
		put_frame(s, depth++, samples_function(samples, s->nodes[n]));
	return 0;
}

static int64_t put_all(struct stacks *s, const struct cst_choice *choice,
		       struct cst_error *err)
{
	struct thread_choice threads;
	int64_t n = 0;
	int status = thread_choice_init(&threads, s->t, choice, err);

	for (uint32_t i = 0; status == 0 && i < s->t->n_threads; i++) {
		if (!s->last[i] ||
		    !thread_choice_has(&threads, &s->t->threads[i]))
			continue;
		if (put_stack(s, s->last[i]) < 0)
			status = cst_fail_memory(err);
		n++;
	}
	return status < 0 ? status : n;
}

int64_t sample_stacks_write(const struct cst_trace *t,
			    const struct cst_choice *choice, int is_line,
			    cst_write_fn write, void *arg,
			    struct cst_error *err)
{
	struct stacks s = {.t = t, .is_line = is_line};
	int64_t n;

	s.last = calloc(t->n_threads + (size_t)1, sizeof(*s.last));
	if (!s.last)
		return cst_fail_memory(err);
	find_last(&s, choice);
	n = put_all(&s, choice, err);
	if (s.out.failed)
		n = cst_fail_memory(err);
	else if (n > 0 && write(arg, (const char *)s.out.data, s.out.len) < 0)
		n = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&s.out);
	free(s.last);
	free(s.nodes);
	return n;
}
