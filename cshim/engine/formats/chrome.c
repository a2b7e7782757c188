/* SPDX-License-Identifier: MIT
 *
 * Times are microseconds with three decimals: nothing is lost.  Readers add a
 * start and a duration as floating-point numbers, so that two ends that are
 * equal come out in any order, and calls seem to overlap.  What would touch is
 * therefore kept apart by some picoseconds, and then has six decimals.
 */
#include "formats/chrome.h"
#include "base/text.h"
#include "formats/exporter.h"
#include "trace/clamp.h"
#include "formats/site_text.h"
#include "formats/thread_ids.h"
#include "names/json.h"
#include "names/put.h"
#include "names/values_json.h"
#include "names/values_text.h"
#include "trace/callid.h"
#include "cstrace/layout.h"

#include <stdlib.h>

enum {
	NUMBERS_MAX = 512, /* of an event, beside what its site says */
	PS_PER_NS = 1000,
	SHORTEST_PS = 500, /* still rounds to no time */
};

/* Copied whole, whatever their length: that is faster. */
enum { BEGIN_BYTES = 64 };

struct chrome_lane {
	struct clamp nest;
	uint32_t begin_len;	 /* 0: not made yet */
	char begin[BEGIN_BYTES]; /* what all its events begin with */
};

struct chrome {
	const struct cst_trace *t;
	struct chrome_lane *lanes;
	struct track *tracks;
	struct site_text sites;
	struct bytes values; /* of the call under way */
	uint32_t gap_ps;
};

/* ---- what comes before the calls ---------------------------------------- */

static void put_metadata(struct bytes *out, const struct track *track,
			 const char *what)
{
	PUT(out, ",\n{\"ph\":\"M\",\"pid\":");
	put_number(out, track->pid);
	PUT(out, ",\"tid\":");
	put_number(out, track->tid);
	PUT(out, ",\"name\":\"");
	bytes_put(out, what, strlen(what));
	PUT(out, "\",\"args\":{\"");
}

static void put_process(const struct chrome *c, uint32_t lane,
			struct bytes *out)
{
	put_metadata(out, &c->tracks[lane], "process_name");
	PUT(out, "name\":");
	json_put_string(out,
			track_process(c->t, lane) == 1
				? tracks_program(c->t)
				: c->t->threads[c->t->lanes[lane].thread].name);
	PUT(out, "}}");
}

static void put_lane(const struct chrome *c, uint32_t lane, struct bytes *out)
{
	put_metadata(out, &c->tracks[lane], "thread_name");
	PUT(out, "name\":\"");
	track_put_name(c->t, lane, out);
	PUT(out, "\"}}");
	put_metadata(out, &c->tracks[lane], "thread_sort_index");
	PUT(out, "sort_index\":");
	put_number(out, lane);
	PUT(out, "}}");
}

static void put_head(void *arg, struct bytes *out)
{
	struct chrome *c = arg;

	const struct cst_trace *t = c->t;
	uint32_t named = UINT32_MAX; /* the process that was named last */
	size_t first;

	PUT(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
		 "\"program\":");
	json_put_string(out, t->command);
	PUT(out, ",\"host\":");
	json_put_string(out, t->host);
	PUT(out,
	    ",\"exporter\":\"cstrace " CST_VERSION "\"},\"traceEvents\":[");
	first = out->len;
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		if (t->lanes[i].first_block == NO_BLOCK)
			continue;
		if (track_process(t, i) != named) {
			named = track_process(t, i);
			put_process(c, i, out);
		}
		put_lane(c, i, out);
	}
	if (first < out->len)
		out->data[first] = ' '; /* the comma */
}

/* ---- the calls ---------------------------------------------------------- */

static void put_site(const struct cst_trace *t, uint32_t id, struct bytes *out)
{
	const struct call_site *site = &t->names->sites[id];
	const struct function *f = &t->names->functions[site->function];

	PUT(out, ",\"name\":");
	json_put_string(out, f->kind == KIND_SPAN ? names_bare(f) : f->name);
	/* Most are the program's own. */
	if (f->kind == KIND_SPAN) {
		PUT(out, ",\"cat\":\"span\"");
	} else if (f->module && strcmp(f->module, tracks_program(t))) {
		PUT(out, ",\"cat\":");
		json_put_string(out, f->module);
	}
	PUT(out, ",\"args\":{");
	if (site->file) {
		PUT(out, "\"from\":\"");
		json_put_text(out, text_last_name(site->file));
		if (site->line) {
			PUT(out, ":");
			put_number(out, site->line);
		}
		PUT(out, "\",");
	}
	if (site->is_tail)
		PUT(out, "\"tail\":true,");
	PUT(out, "\"id\":\"");
}

/* More than the error of a double at the trace's end, whose 53 bits make it
 * 2^-52 of that: 1 ps up to nine minutes. */
static uint32_t gap_of(const struct cst_trace *t)
{
	uint64_t ns = t->end_ticks > t->start_ticks
			      ? trace_ns(t, t->end_ticks - t->start_ticks)
			      : 0;

	return 1 + (uint32_t)(ns >> 39);
}

static inline uint64_t ps_of(uint64_t ns)
{
	return ns < UINT64_MAX / PS_PER_NS ? ns * PS_PER_NS : UINT64_MAX;
}

static inline char *put_us(char *p, uint64_t ps)
{
	uint64_t ns = ps / PS_PER_NS, us = ns / 1000;
	uint32_t rest = (uint32_t)(ps - ns * PS_PER_NS);

	p = number_put(p, us);
	*p++ = '.';
	p = number_put_digits(p, (uint32_t)(ns - us * 1000), 3);
	return rest ? number_put_digits(p, rest, 3) : p;
}

static void make_lane(struct chrome_lane *lane, const struct track *track,
		      uint32_t gap_ps)
{
	char *p = lane->begin;

	p = PUT_AT(p, ",\n{\"ph\":\"X\",\"pid\":");
	p = number_put(p, track->pid);
	p = PUT_AT(p, ",\"tid\":");
	p = number_put(p, track->tid);
	p = PUT_AT(p, ",\"ts\":");
	lane->begin_len = (uint32_t)(p - lane->begin);
	lane->nest.gap = gap_ps;
	lane->nest.shortest = SHORTEST_PS;
}

/* Its times are in picoseconds by now. */
static inline char *put_times(const struct chrome_lane *lane,
			      const struct shown *s, char *p)
{
	memcpy(p, lane->begin, BEGIN_BYTES);
	p = put_us(p + lane->begin_len, s->start_ns);
	p = PUT_AT(p, ",\"dur\":");
	return put_us(p, s->duration_ns);
}

static char *put_id(const struct chrome *c, const struct shown *s, char *p)
{
	p = callid_put(p, &c->t->threads[s->thread], s->number, s->is_seed);
	*p++ = '"';
	if (s->end == CALL_OPEN)
		p = PUT_AT(p, ",\"end\":\"open\"");
	if (s->end == CALL_ESTIMATED)
		p = PUT_AT(p, ",\"end\":\"estimated\"");
	if (s->end == CALL_UNWOUND)
		p = shown_is_vetoed(c->t, s)
			    ? PUT_AT(p, ",\"end\":\"vetoed\"")
			    : PUT_AT(p, ",\"end\":\"unwound\"");
	if (s->n_stops)
		p = PUT_AT(p, ",\"stopped\":true");
	if (c->values.len)
		p = put_at(p, (const char *)c->values.data, c->values.len);
	return PUT_AT(p, "}}");
}

/* What a call has of values, within its args. */
static void put_values(const struct values *v, const char *names,
		       struct bytes *out)
{
	struct value result;

	if (v && v->n) {
		PUT(out, ",\"values\":");
		values_put_json(out, v->data, v->n, names);
	}
	if (values_result(v, names, &result)) {
		PUT(out, ",\"result\":");
		value_put_json(out, &result);
	}
}

/* An event by itself: what it is, where and when. */
static void put_event(struct chrome *c, const char *what, const struct shown *s,
		      const char *name, struct bytes *out)
{
	const struct track *track = &c->tracks[s->lane];
	char us[32];

	PUT(out, ",\n{\"ph\":\"");
	bytes_put(out, what, strlen(what));
	PUT(out, ",\"pid\":");
	put_number(out, track->pid);
	PUT(out, ",\"tid\":");
	put_number(out, track->tid);
	PUT(out, ",\"ts\":");
	bytes_put(out, us, (size_t)(put_us(us, ps_of(s->start_ns)) - us));
	PUT(out, ",\"name\":");
	json_put_string(out, name);
}

static void put_message(struct chrome *c, const struct function *f,
			const struct shown *s, struct bytes *out)
{
	char text[VALUES_ROOM];

	values_message(f, s->values, text, sizeof(text));
	put_event(c, "i\",\"s\":\"t\"", s, text, out);
	PUT(out, ",\"cat\":");
	json_put_string(out, names_said(f));
	PUT(out, "}");
}

/* A counter of a process, as they are; only numbers can be drawn. */
static void put_count(struct chrome *c, const struct function *f,
		      const struct shown *s, struct bytes *out)
{
	long double number;
	struct value v;

	if (!values_first(s->values, &v) || !value_as_number(&v, &number))
		return;
	put_event(c, "C\"", s, names_bare(f), out);
	PUT(out, ",\"args\":{\"value\":");
	value_put_json(out, &v);
	PUT(out, "}}");
}

static void put_async(struct chrome *c, const struct function *f,
		      const struct shown *s, struct bytes *out)
{
	int is_end = f->kind == KIND_ASYNC_END;
	struct value id;

	if (!values_first(s->values, &id))
		return;
	put_event(c, is_end ? "e\"" : "b\"", s, names_bare(f), out);
	PUT(out, ",\"cat\":\"span\",\"id\":\"");
	put_number(out, id.kind == CST_VALUE_INT ? (uint64_t)id.i : id.u);
	PUT(out, "\",\"args\":");
	values_put_json(out, s->values->data, s->values->n, f->values);
	PUT(out, "}");
}

/* What takes no time is no complete event, but exceptions are, as they were.
 * Returns whether it was such a one. */
static int put_own(struct chrome *c, const struct function *f,
		   const struct shown *s, struct bytes *out)
{
	switch (f->kind) {
	case KIND_MESSAGE:
	case KIND_POINT:
		put_message(c, f, s, out);
		return 1;
	case KIND_COUNT:
		put_count(c, f, s, out);
		return 1;
	case KIND_ASYNC:
	case KIND_ASYNC_END:
		put_async(c, f, s, out);
		return 1;
	default:
		c->values.len = 0;
		put_values(s->values, f->values, &c->values);
		return 0;
	}
}

static int put_call(void *arg, struct shown *s, struct bytes *out)
{
	struct chrome *c = arg;
	uint32_t function = c->t->names->sites[s->site].function;
	struct chrome_lane *lane = &c->lanes[s->lane];
	size_t size;
	const char *site = site_text_get(&c->sites, s->site, &size);
	char *begin, *p;

	if (put_own(c, &c->t->names->functions[function], s, out))
		return out->failed ? CST_MEMORY : 0;
	if (!lane->begin_len)
		make_lane(lane, &c->tracks[s->lane], c->gap_ps);
	while (clamp_over(&lane->nest, s))
		;
	s->start_ns = ps_of(s->start_ns);
	s->duration_ns = ps_of(s->duration_ns);
	if (!site || clamp_enter(&lane->nest, function, s) < 0)
		return CST_MEMORY;
	begin = p =
		(char *)bytes_reserve(out, NUMBERS_MAX + size + c->values.len);
	if (!p)
		return CST_MEMORY;
	p = put_times(lane, s, p);
	p = put_at(p, site, size);
	p = put_id(c, s, p);
	out->len += (size_t)(p - begin);
	return 0;
}

static int put_tail(void *arg, struct bytes *out)
{
	(void)arg;
	PUT(out, "\n]}\n");
	return 0;
}

static const struct exporter chrome = {
	.begin = put_head,
	.call = put_call,
	.end = put_tail,
};

static void chrome_release(struct chrome *c)
{
	for (uint32_t i = 0; c->lanes && i < c->t->n_lanes; i++)
		clamp_release(&c->lanes[i].nest);
	free(c->lanes);
	free(c->tracks);
	bytes_release(&c->values);
	site_text_release(&c->sites);
}

int64_t chrome_write(const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err)
{
	auto_free struct chrome *c = calloc(1, sizeof(*c));
	int64_t status;

	if (!c)
		return cst_fail_memory(err);
	c->t = t;
	c->gap_ps = gap_of(t);
	c->tracks = tracks_new(t);
	c->lanes = calloc(t->n_lanes + (size_t)1, sizeof(*c->lanes));
	status = c->tracks && c->lanes
			 ? site_text_init(&c->sites, t, put_site, err)
			 : cst_fail_memory(err);
	if (status == 0)
		status = exporter_run(&chrome, c, t, choice, write, arg, err);
	chrome_release(c);
	return status;
}
