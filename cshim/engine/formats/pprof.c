/* SPDX-License-Identifier: MIT
 *
 * One sample of pprof's for each stack, with how often it was seen and the time
 * that this stands for; of calls, how often and how long they were.  The
 * messages are encoded by hand: a field is its number and wire type, then a
 * varint, or a length and so many bytes.
 */
#include "formats/pprof.h"
#include "base/array.h"
#include "names/filter.h"
#include "trace/call_paths.h"
#include "trace/loader.h"
#include "trace/sample_calls.h"
#include "trace/span.h"
#include "trace/thread_choice.h"
#include "trace/walk.h"

#include <stdlib.h>
#include <zlib.h>

/* Fields of Profile, and of the messages in it. */
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	GZIP_WINDOW = 15 + 16, /* the largest, in gzip's wrapping */
	PIECE = 1 << 16,
};

struct pprof {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct bytes out;	  /* the profile */
	struct bytes part, inner; /* a message in it, and one in that */
	struct bytes strings;	  /* the table, as fields of the profile */
	uint32_t n_strings;
	struct filter *filter;
	uint32_t *path; /* node or function numbers, innermost first */
	uint32_t cap_path;
	int64_t n;
};

/* ---- messages ------------------------------------------------------------ */

static void put_number(struct bytes *out, uint32_t field, uint64_t v)
{
	bytes_put_varint(out, field << 3);
	bytes_put_varint(out, v);
}

static void put_bytes(struct bytes *out, uint32_t field, const void *data,
		      size_t n)
{
	bytes_put_varint(out, field << 3 | 2);
	bytes_put_varint(out, n);
	bytes_put(out, data, n);
}

/* A message that was made in `part`, which is empty behind it. */
static void put_part(struct bytes *out, uint32_t field, struct bytes *part)
{
	out->failed |= part->failed;
	put_bytes(out, field, part->data, part->len);
	part->len = 0;
}

/* Returns the text's index in the table; they are not looked for in it, but for
 * the empty one. */
static uint32_t string_of(struct pprof *p, const char *text)
{
	if (!text || !*text)
		return 0;
	put_bytes(&p->strings, PROFILE_STRING, text, strlen(text));
	return p->n_strings++;
}

static void put_type(struct pprof *p, uint32_t field, const char *type,
		     const char *unit)
{
	put_number(&p->part, 1, string_of(p, type));
	put_number(&p->part, 2, string_of(p, unit));
	put_part(&p->out, field, &p->part);
}

/* ---- what stacks refer to ------------------------------------------------ */

static void put_functions(struct pprof *p)
{
	const struct names *names = p->t->names;

	for (uint32_t i = 0; i < names->n_functions; i++) {
		const struct function *f = &names->functions[i];
		const char *name = p->choice->names == CST_NAMES_FULL
					   ? f->name
					   : f->simple;

		put_number(&p->part, 1, i + 1);
		put_number(&p->part, FUNCTION_NAME, string_of(p, name));
		put_number(&p->part, FUNCTION_SYSTEM_NAME,
			   string_of(p, f->symbol ? f->symbol : f->name));
		put_number(&p->part, FUNCTION_FILE, string_of(p, f->file));
		put_part(&p->out, PROFILE_FUNCTION, &p->part);
	}
}

static void put_mappings(struct pprof *p)
{
	for (uint32_t i = 0; i < p->t->n_modules; i++) {
		const struct trace_module *m = &p->t->modules[i];

		put_number(&p->part, 1, i + 1);
		put_number(&p->part, MAPPING_START, m->start);
		put_number(&p->part, MAPPING_LIMIT, m->end);
		if (m->bias && m->start > m->bias)
			put_number(&p->part, MAPPING_OFFSET,
				   m->start - m->bias);
		put_number(&p->part, MAPPING_FILE, string_of(p, m->path));
		put_number(&p->part, MAPPING_BUILD_ID,
			   string_of(p, m->build_id));
		put_number(&p->part, MAPPING_HAS_FUNCTIONS, 1);
		put_part(&p->out, PROFILE_MAPPING, &p->part);
	}
}

/* 0: none. */
static uint32_t mapping_of(const struct pprof *p, uint64_t addr)
{
	for (uint32_t i = 0; i < p->t->n_modules; i++)
		if (addr >= p->t->modules[i].start &&
		    addr < p->t->modules[i].end)
			return i + 1;
	return 0;
}

static void put_location(struct pprof *p, uint32_t id, uint32_t function,
			 uint64_t addr)
{
	put_number(&p->part, 1, id);
	if (addr) {
		put_number(&p->part, LOCATION_MAPPING, mapping_of(p, addr));
		put_number(&p->part, LOCATION_ADDRESS, addr);
	}
	put_number(&p->inner, 1, function + 1);
	put_part(&p->part, LOCATION_LINE, &p->inner);
	put_part(&p->out, PROFILE_LOCATION, &p->part);
}

static void put_stack(struct pprof *p, uint32_t n, uint64_t count, uint64_t ns,
		      uint32_t tid)
{
	for (uint32_t i = 0; i < n; i++)
		bytes_put_varint(&p->inner, p->path[i]);
	put_part(&p->part, SAMPLE_LOCATIONS, &p->inner);
	bytes_put_varint(&p->inner, count);
	bytes_put_varint(&p->inner, ns);
	put_part(&p->part, SAMPLE_VALUES, &p->inner);
	if (tid) {
		put_number(&p->inner, 1, string_of(p, "thread"));
		put_number(&p->inner, 3, tid);
		put_part(&p->part, SAMPLE_LABEL, &p->inner);
	}
	put_part(&p->out, PROFILE_SAMPLE, &p->part);
}

/* ---- samples ------------------------------------------------------------- */

struct tally {
	uint32_t thread, node;
	uint64_t weight;
};

static int tally_compare(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* The places of a stack that are visible, innermost first; returns how many, or
 * CST_MEMORY. */
static int sample_path(struct pprof *p, uint32_t node)
{
	const struct trace_samples *s = &p->t->samples;
	struct filter_state above = filter_root(p->filter), below;
	uint32_t n = 0, n_seen = 0;

	for (; node; node = s->nodes[node].parent) {
		if (array_room(&p->path, &p->cap_path, n + 1ull) < 0)
			return CST_MEMORY;
		p->path[n++] = node;
	}
	/* From the outermost, whose place is the last, to the innermost. */
	for (uint32_t i = n; i-- > 0;) {
		uint32_t at = p->path[i];

		if (filter_enter(p->filter, p->t->names,
				 samples_function(s, at), above, &below))
			p->path[n - ++n_seen] = s->nodes[at].place + 1;
		above = below;
	}
	memmove(p->path, p->path + (n - n_seen), n_seen * sizeof(*p->path));
	return (int)n_seen;
}

static int put_tally(struct pprof *p, const struct tally *tally)
{
	int n = sample_path(p, tally->node);

	if (n < 0)
		return n;
	if (!n && tally->node)
		return 0; /* the choice hides all of it */
	put_stack(p, (uint32_t)n, tally->weight,
		  samples_ns(&p->t->samples, tally->weight),
		  p->t->threads[tally->thread].tid);
	p->n += (int64_t)tally->weight;
	return 0;
}

static int put_tallies(struct pprof *p, struct tally *all, uint32_t n)
{
	qsort(all, n, sizeof(*all), tally_compare);
	for (uint32_t i = 0; i < n;) {
		struct tally sum = all[i];

		while (++i < n && !tally_compare(&sum, &all[i]))
			sum.weight += all[i].weight;
		if (put_tally(p, &sum) < 0)
			return CST_MEMORY;
	}
	return 0;
}

static int put_samples(struct pprof *p, struct cst_error *err)
{
	const struct trace_samples *s = &p->t->samples;
	struct walk_part range = walk_range(p->t, p->choice);
	auto_free struct tally *all = malloc((s->n + (size_t)1) * sizeof(*all));
	struct cst_choice seen = *p->choice;
	struct thread_choice threads;
	struct span span;
	uint32_t n = 0;
	int status = thread_choice_init(&threads, p->t, p->choice, err);

	seen.std = 1;
	if (!all)
		return cst_fail_memory(err);
	if (status == 0)
		status = span_init(&span, p->t, p->choice, err);
	if (status == 0)
		status = filter_new(&seen, &p->filter, err);
	if (status < 0)
		/* cppcheck-suppress memleak ; auto_free */
		return status;
	put_type(p, PROFILE_TYPE, "samples", "count");
	put_type(p, PROFILE_TYPE, s->clock ? "wall" : "cpu", "nanoseconds");
	put_type(p, PROFILE_PERIOD_TYPE, s->clock ? "wall" : "cpu",
		 "nanoseconds");
	put_number(&p->out, PROFILE_PERIOD, samples_ns(s, 1));
	for (uint32_t i = 0; i < s->n_places; i++)
		put_location(p, i + 1, s->places[i].function,
			     s->places[i].addr);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct trace_sample *sample = &s->all[i];

		if (sample->tick < range.from ||
		    !span_holds(&span, sample->tick) ||
		    (range.until && sample->tick > range.until) ||
		    !thread_choice_has(&threads,
				       &p->t->threads[sample->thread]))
			continue;
		all[n++] = (struct tally){sample->thread, sample->node,
					  sample->weight};
	}
	return put_tallies(p, all, n) < 0 ? cst_fail_memory(err) : 0;
}

/* ---- calls --------------------------------------------------------------- */

static int put_calls(struct pprof *p, struct cst_error *err)
{
	struct call_paths paths = {0};
	int status = call_paths_make(&paths, p->t, p->choice, UINT32_MAX, err);

	put_type(p, PROFILE_TYPE, "calls", "count");
	put_type(p, PROFILE_TYPE, "time", "nanoseconds");
	for (uint32_t i = 0; i < p->t->names->n_functions; i++)
		put_location(p, i + 1, i, 0);
	for (uint32_t i = 0; status == 0 && i < paths.nodes.n; i++) {
		const struct pair *nodes = paths.nodes.all;
		uint32_t n = 0;

		for (uint32_t k = i; k != NO_STACK; k = nodes[k].a) {
			if (array_room(&p->path, &p->cap_path, n + 1ull) < 0) {
				status = cst_fail_memory(err);
				break;
			}
			p->path[n++] = nodes[k].b + 1;
		}
		if (status == 0)
			put_stack(p, n, paths.sums[i].total.n_calls,
				  total_self(&paths.sums[i].total), 0);
	}
	p->n = paths.n_calls;
	call_paths_release(&paths);
	return status;
}

/* ---- the whole ----------------------------------------------------------- */

static int squeeze(struct bytes *from, cst_write_fn write, void *arg,
		   struct cst_error *err)
{
	z_stream z = {.next_in = from->data, .avail_in = (uInt)from->len};
	/* ours.c knows the file again by this. */
	gz_header head = {.comment = (Bytef *)"\nMade by cstrace.", .os = 3};
	uint8_t piece[PIECE];
	int status = Z_OK;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return cst_fail_memory(err);
	deflateSetHeader(&z, &head);
	while (status == Z_OK) {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		status = deflate(&z, Z_FINISH);
		if (write(arg, (const char *)piece,
			  sizeof(piece) - z.avail_out) < 0) {
			deflateEnd(&z);
			return cst_fail(CST_INTERRUPTED, err, "interrupted");
		}
	}
	deflateEnd(&z);
	return status == Z_STREAM_END ? 0 : cst_fail_memory(err);
}

static int profile_put(struct pprof *p, struct cst_error *err)
{
	int status;

	put_bytes(&p->strings, PROFILE_STRING, "", 0);
	p->n_strings = 1;
	status = sample_calls_wanted(p->t, p->choice) ? put_samples(p, err)
						      : put_calls(p, err);
	if (status < 0)
		return status;
	put_functions(p);
	put_mappings(p);
	put_number(&p->out, PROFILE_TIME, p->t->start_wall_ns);
	put_number(&p->out, PROFILE_DURATION, p->t->status.duration_ns);
	bytes_put(&p->out, p->strings.data, p->strings.len);
	return p->out.failed || p->strings.failed ? cst_fail_memory(err) : 0;
}

int64_t pprof_write(const struct cst_trace *t, const struct cst_choice *choice,
		    cst_write_fn write, void *arg, struct cst_error *err)
{
	struct pprof p = {.t = t, .choice = choice};
	int status = profile_put(&p, err);

	if (status == 0)
		status = squeeze(&p.out, write, arg, err);
	bytes_release(&p.out);
	bytes_release(&p.part);
	bytes_release(&p.inner);
	bytes_release(&p.strings);
	filter_free(p.filter);
	free(p.path);
	return status < 0 ? status : p.n;
}
