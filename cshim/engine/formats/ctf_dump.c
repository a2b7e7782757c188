/* SPDX-License-Identifier: MIT
 *
 * Each process has its dump at the beginning of the trace.  Where two files
 * were mapped at one place, one after the other or in different processes, a
 * reader of the dump would name calls wrongly: it has neither.
 */
#include "formats/ctf_dump.h"

#include <stdlib.h>

static int object_compare(const void *a, const void *b)
{
	const struct trace_module *const *x = a, *const *y = b;

	if ((*x)->start != (*y)->start)
		return (*x)->start < (*y)->start ? -1 : 1;
	return ((*x)->end > (*y)->end) - ((*x)->end < (*y)->end);
}

static int is_same(const struct trace_module *a, const struct trace_module *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias &&
	       !strcmp(a->path, b->path) && !strcmp(a->build_id, b->build_id);
}

/* What was seen in several address spaces counts once. Returns how many are
 * left of the sorted n. */
static uint32_t drop_copies(const struct trace_module **all, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!kept || !is_same(all[kept - 1], all[i]))
			all[kept++] = all[i];
	return kept;
}

static uint32_t drop_overlaps(const struct trace_module **all, uint32_t n)
{
	uint64_t end = 0; /* of those before */
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_module *m = all[i];
		int is_alone = m->start >= end &&
			       (i + 1 == n || all[i + 1]->start >= m->end);

		end = m->end > end ? m->end : end;
		if (is_alone && m->start < m->end && m->bias <= m->start)
			all[kept++] = m;
	}
	return kept;
}

static const struct trace_module **objects_new(const struct cst_trace *t,
					       uint32_t *n)
{
	const struct trace_module **all =
		calloc(t->n_modules + (size_t)1, sizeof(*all));

	if (!all)
		return NULL;
	for (uint32_t i = 0; i < t->n_modules; i++)
		all[i] = &t->modules[i];
	qsort(all, t->n_modules, sizeof(*all), object_compare);
	*n = drop_overlaps(all, drop_copies(all, t->n_modules));
	return all;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

/* The bytes of hexadecimal digits; 0: they are none. */
static size_t read_id(const char *text, uint8_t out[64])
{
	size_t n = 0;

	for (; n < 64 && text[2 * n] && text[2 * n + 1]; n++) {
		int high = digit(text[2 * n]), low = digit(text[2 * n + 1]);

		if (high < 0 || low < 0)
			return 0;
		out[n] = (uint8_t)(high << 4 | low);
	}
	return text[2 * n] ? 0 : n;
}

/* A file whose addresses are those in memory is written with where it begins.
 */
static void put_object(struct ctf_stream *s, const struct trace_module *m)
{
	uint64_t begin = m->bias ? m->bias : m->start;
	uint8_t id[64];
	size_t id_size = read_id(m->build_id, id);

	ctf_stream_event(s, CTF_DUMP_OBJECT, 0);
	ctf_put_u64(&s->packet, begin);
	ctf_put_u64(&s->packet, m->end - begin);
	ctf_put_string(&s->packet, m->path);
	bytes_put_byte(&s->packet, m->bias != 0);
	bytes_put_byte(&s->packet, id_size != 0);
	bytes_put_byte(&s->packet, 0);
	if (!id_size)
		return;
	ctf_stream_event(s, CTF_DUMP_BUILD_ID, 0);
	ctf_put_u64(&s->packet, begin);
	ctf_put_u64(&s->packet, id_size);
	bytes_put(&s->packet, id, id_size);
}

static int write_process(struct ctf_stream *s,
			 const struct trace_module **objects, uint32_t n,
			 struct cst_error *err)
{
	int status = 0;

	ctf_stream_event(s, CTF_DUMP_START, 0);
	for (uint32_t i = 0; i < n && status == 0; i++) {
		put_object(s, objects[i]);
		status = ctf_stream_settle(s, err);
	}
	ctf_stream_event(s, CTF_DUMP_END, 0);
	return status < 0 ? status : ctf_stream_settle(s, err);
}

int ctf_dump_write(const struct cst_trace *t, const struct track *tracks,
		   struct folder *folder, struct ctf_stream *s,
		   struct cst_error *err)
{
	uint32_t n_processes = 0, n = 0;
	auto_free uint32_t *lanes = tracks_processes(t, &n_processes);
	auto_free const struct trace_module **objects = objects_new(t, &n);
	int status;

	if (!lanes || !objects)
		return cst_fail_memory(err);
	if (!n_processes)
		return 0;
	status = ctf_stream_begin(s, folder, "statedump", err);
	for (uint32_t i = 0; i < n_processes && status == 0; i++) {
		const struct track *track = &tracks[lanes[i]];

		ctf_stream_context(s, track->pid, track->pid,
				   track_process_name(t, lanes[i]));
		status = write_process(s, objects, n, err);
	}
	return status < 0 ? status : ctf_stream_end(s, err);
}
