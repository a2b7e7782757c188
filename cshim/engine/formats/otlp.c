/* SPDX-License-Identifier: MIT
 *
 * A process is a resource, so lanes come one after the other.  IDs are made
 * from the trace and the call, not by chance: what is saved twice, in parts
 * or by two readers, is the same trace.  A span begins where the call did in
 * the program's time, which stands still at gdb's prompt.
 */
#include "formats/otlp.h"
#include "base/array.h"
#include "cstrace/layout.h"
#include "formats/exporter.h"
#include "trace/clamp.h"
#include "formats/site_text.h"
#include "formats/thread_ids.h"
#include "names/json.h"
#include "names/put.h"
#include "names/values_json.h"
#include "names/values_text.h"
#include "trace/callid.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
	NUMBERS_MAX = 1024, /* of a span, beside its names */
};

/* A span that is not written yet: what happens in it may still come. */
struct pending {
	struct bytes text, events;
	uint32_t depth;
};

struct otlp {
	const struct cst_trace *t;
	/* Spans wait until they are over, where there is anything that may
	 * happen in one: by the depth of their calls. */
	uint8_t has_events;
	struct pending *pending;
	uint32_t n_pending, cap_pending;
	struct bytes values; /* of the span under way */
	struct clamp nest;
	struct site_text sites;
	char trace_id[32];
	uint32_t lane, process; /* under way; UINT32_MAX: none yet */
	uint8_t has_span;
};

static char *put_hex(char *out, uint64_t v)
{
	static const char hex[] = "0123456789abcdef";

	for (int i = 15; i >= 0; i--, v >>= 4)
		out[i] = hex[v & 15];
	return out + 16;
}

/* FNV-1a, 64 bits. */
#define HASH_BEGIN 0xcbf29ce484222325u
static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static void make_trace_id(struct otlp *o)
{
	const struct cst_trace *t = o->t;
	uint64_t h = hash(HASH_BEGIN, t->host, strlen(t->host));

	h = hash(h, t->command, strlen(t->command));
	h = hash(h, &t->start_ticks, sizeof(t->start_ticks));
	if (t->n_threads)
		h = hash(h, &t->threads[0].pid, sizeof(t->threads[0].pid));
	put_hex(o->trace_id, t->start_wall_ns);
	put_hex(o->trace_id + 16, h | 1); /* all zeros are no ID */
}

/* Thread and number, which is never that long. */
static char *put_span_id(char *p, uint32_t thread, int is_seed, uint64_t number)
{
	return put_hex(p, (thread + 1ull) << 41 | (uint64_t)is_seed << 40 |
				  (number & ((1ull << 40) - 1)));
}

/* ---- a process ---------------------------------------------------------- */

static void put_string_attribute(struct bytes *out, const char *key,
				 const char *value)
{
	PUT(out, "{\"key\":\"");
	bytes_put(out, key, strlen(key));
	PUT(out, "\",\"value\":{\"stringValue\":");
	json_put_string(out, value);
	PUT(out, "}}");
}

static void put_int_attribute(struct bytes *out, const char *key,
			      uint64_t value)
{
	char text[24];

	PUT(out, "{\"key\":\"");
	bytes_put(out, key, strlen(key));
	PUT(out, "\",\"value\":{\"intValue\":\"");
	bytes_put(out, text, (size_t)(number_put(text, value) - text));
	PUT(out, "\"}}");
}

static void end_process(struct otlp *o, struct bytes *out)
{
	if (o->process != UINT32_MAX)
		PUT(out, "]}]}");
}

/* Writes the spans that wait from index n on, innermost first. */
static void end_spans(struct otlp *o, uint32_t n, struct bytes *out)
{
	while (o->n_pending > n) {
		struct pending *p = &o->pending[--o->n_pending];

		if (!p->text.len)
			continue;
		if (o->has_span)
			PUT(out, ",");
		o->has_span = 1;
		bytes_put(out, p->text.data, p->text.len);
		if (p->events.len) {
			PUT(out, ",\"events\":[");
			bytes_put(out, p->events.data, p->events.len);
			PUT(out, "]");
		}
		PUT(out, "}");
		out->failed |= p->text.failed | p->events.failed;
		p->text.len = p->events.len = 0;
	}
}

static void begin_process(struct otlp *o, uint32_t lane, struct bytes *out)
{
	const struct cst_trace *t = o->t;

	end_process(o, out);
	if (o->process != UINT32_MAX)
		PUT(out, ",");
	o->process = track_process(t, lane);
	o->has_span = 0;
	PUT(out, "{\"resource\":{\"attributes\":[");
	put_string_attribute(out, "service.name", tracks_program(t));
	PUT(out, ",");
	put_string_attribute(out, "host.name", t->host);
	PUT(out, ",");
	put_string_attribute(out, "process.command_line", t->command);
	PUT(out, ",");
	put_int_attribute(out, "process.pid",
			  t->threads[t->lanes[lane].thread].pid);
	PUT(out, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"cstrace\","
		 "\"version\":\"" CST_VERSION "\"},\"spans\":[");
}

/* ---- a call ------------------------------------------------------------- */

/* What is the same for all calls of a site; the attributes stay open. */
static void put_site(const struct cst_trace *t, uint32_t id, struct bytes *out)
{
	const struct call_site *site = &t->names->sites[id];
	const struct function *f = &t->names->functions[site->function];

	PUT(out, "\",\"name\":");
	json_put_string(out, f->kind == KIND_SPAN || f->kind == KIND_ASYNC
				     ? names_bare(f)
				     : f->name);
	PUT(out, ",\"kind\":1,\"attributes\":[");
	put_string_attribute(out, "code.function", f->name);
	if (site->file) {
		PUT(out, ",");
		put_string_attribute(out, "code.filepath", site->file);
	}
	if (site->file && site->line) {
		PUT(out, ",");
		put_int_attribute(out, "code.lineno", site->line);
	}
	if (site->is_tail)
		PUT(out, ",{\"key\":\"cstrace.tail\",\"value\":{"
			 "\"boolValue\":true}}");
	if (f->module) {
		PUT(out, ",");
		put_string_attribute(out, "cstrace.module", f->module);
	}
}

enum { NAME_ROOM = 256 };

/* One value as OTLP has them; what is inside an element of an array is text. */
static void put_any_value(struct bytes *out, const struct value *v)
{
	struct bytes json = {0};

	if (v->kind == CST_VALUE_STRUCT || v->kind == CST_VALUE_ARRAY) {
		char text[VALUES_ROOM];

		*value_put(text, v) = '\0';
		PUT(out, "{\"stringValue\":");
		json_put_string(out, text);
		PUT(out, "}");
		return;
	}
	value_put_json(&json, v);
	if (v->kind == CST_VALUE_INT ||
	    (v->kind == CST_VALUE_UINT && v->u <= INT64_MAX))
		PUT(out, "{\"intValue\":\"");
	else if (v->kind == CST_VALUE_BOOL)
		PUT(out, "{\"boolValue\":");
	else if (v->kind == CST_VALUE_FLOAT && *json.data != '"')
		PUT(out, "{\"doubleValue\":");
	else if (*json.data == '"')
		PUT(out, "{\"stringValue\":");
	else
		PUT(out, "{\"stringValue\":\"");
	out->failed |= json.failed;
	bytes_put(out, json.data, json.len);
	/* Integers are text there, and so is what is null here. */
	if (v->kind == CST_VALUE_INT || v->kind == CST_VALUE_UINT ||
	    v->kind == CST_VALUE_NULL)
		PUT(out, "\"");
	PUT(out, "}");
	bytes_release(&json);
}

static void put_attribute(struct bytes *out, const char *before,
			  const char *name)
{
	bytes_put(out, before, strlen(before));
	PUT(out, "{\"key\":");
	json_put_string(out, name);
	PUT(out, ",\"value\":");
}

/* "cstrace.value." and a value's name. */
static void put_name(char *name, size_t size, const char *prefix,
		     const struct value *v)
{
	snprintf(name, size, "%s%.*s", prefix, (int)v->name_size,
		 v->name_size ? v->name : "");
}

/* The first elements, and how many there are in an attribute beside them. */
static void put_array(struct bytes *out, const char *before, const char *name,
		      const struct value *v)
{
	struct value_list l = v->inside;
	char size[NAME_ROOM + 8];
	const char *between = "";
	struct value element;

	put_attribute(out, before, name);
	PUT(out, "{\"arrayValue\":{\"values\":[");
	for (; value_next(&l, &element); between = ",") {
		bytes_put(out, between, strlen(between));
		put_any_value(out, &element);
	}
	PUT(out, "]}}}");
	snprintf(size, sizeof(size), "%s.size", name);
	put_attribute(out, ",", size);
	bytes_put_format(out, "{\"intValue\":\"%" PRIu64 "\"}}", v->u);
}

/* Puts a value as an attribute, or each field of a struct: cstrace.value.p.x.
 * Returns what stands before the next one. */
static const char *put_value(struct bytes *out, const char *before,
			     const char *prefix, const struct value *v)
{
	struct value_list l = v->inside;
	char name[NAME_ROOM];
	struct value field;

	put_name(name, sizeof(name) - 2, prefix, v);
	if (v->kind == CST_VALUE_STRUCT) {
		strcat(name, ".");
		while (value_next(&l, &field))
			before = put_value(out, before, name, &field);
		return before;
	}
	if (v->kind == CST_VALUE_ARRAY) {
		put_array(out, before, name, v);
		return ",";
	}
	put_attribute(out, before, *name ? name : "value");
	put_any_value(out, v);
	PUT(out, "}");
	return ",";
}

/* The values of a call or a span, as attributes behind others. */
static void put_values(const struct values *v, const char *names,
		       struct bytes *out)
{
	struct value_list l =
		value_list(v ? v->data : NULL, v ? v->n : 0, names);
	struct value value;

	while (value_next(&l, &value))
		put_value(out, ",", "cstrace.value.", &value);
	if (values_result(v, names, &value))
		put_value(out, ",", "cstrace.result", &value);
}

/* Puts a message's values; those without a name have their number:
 * cstrace.value.1. */
static void put_values_of_message(struct bytes *out, const struct values *v,
				  const char *names)
{
	struct value_list l =
		value_list(v ? v->data : NULL, v ? v->n : 0, names);
	const char *before = "";
	struct value value;

	for (unsigned n = 1; value_next(&l, &value); n++) {
		char prefix[32];

		if (value.name_size)
			snprintf(prefix, sizeof(prefix), "cstrace.value.");
		else
			snprintf(prefix, sizeof(prefix), "cstrace.value.%u", n);
		before = put_value(out, before, prefix, &value);
	}
}

/* What happened at the time of a message, a counter or the like. */
static void put_event(struct otlp *o, const struct function *f,
		      const struct shown *s, struct bytes *out)
{
	char text[VALUES_ROOM];
	struct value value;

	if (out->len)
		PUT(out, ",");
	PUT(out, "{\"timeUnixNano\":\"");
	put_number(out, o->t->start_wall_ns + s->start_ns);
	PUT(out, "\",\"name\":");
	if (function_has_text(f)) {
		values_message(f, s->values, text, sizeof(text));
		json_put_string(out, text);
	} else {
		json_put_string(out, f->name);
	}
	PUT(out, ",\"attributes\":[");
	if (f->kind == KIND_MESSAGE)
		put_values_of_message(out, s->values, f->values);
	else if (f->kind != KIND_POINT && values_first(s->values, &value))
		put_value(out, "", "cstrace.value", &value);
	PUT(out, "]}");
}

/* Takes what is no span into the one that it happened in.  Returns whether
 * there is one. */
static int take_event(struct otlp *o, const struct function *f,
		      const struct shown *s)
{
	if (!function_is_instant(f) || function_is_exception(f) ||
	    !o->n_pending)
		return 0;
	put_event(o, f, s, &o->pending[o->n_pending - 1].events);
	return 1;
}

static char *put_ids(const struct otlp *o, const struct shown *s, char *p)
{
	p = PUT_AT(p, "{\"traceId\":\"");
	p = put_at(p, o->trace_id, sizeof(o->trace_id));
	p = PUT_AT(p, "\",\"spanId\":\"");
	p = put_span_id(p, s->thread, s->is_seed, s->number);
	if (s->parent == PARENT_NONE)
		return p;
	p = PUT_AT(p, "\",\"parentSpanId\":\"");
	return put_span_id(p, s->parent_thread, s->parent == PARENT_SEED,
			   s->parent_number);
}

/* Which thread's, and which call. */
static char *put_origin(const struct otlp *o, const struct shown *s, char *p)
{
	const struct trace_thread *thread = &o->t->threads[s->thread];

	p = PUT_AT(p, ",{\"key\":\"thread.id\",\"value\":{\"intValue\":\"");
	p = number_put(p, thread->tid);
	p = PUT_AT(
		p,
		"\"}},{\"key\":\"cstrace.id\",\"value\":{\"stringValue\":\"");
	p = callid_put(p, thread, s->number, s->is_seed);
	return PUT_AT(p, "\"}}");
}

static char *put_end(char *p, uint8_t end)
{
	p = PUT_AT(p, ",{\"key\":\"cstrace.end\",\"value\":{\"stringValue\":");
	return end == CALL_OPEN	       ? PUT_AT(p, "\"open\"}}")
	       : end == CALL_UNWOUND   ? PUT_AT(p, "\"unwound\"}}")
	       : end == CALL_ESTIMATED ? PUT_AT(p, "\"estimated\"}}")
				       : PUT_AT(p, "\"return\"}}");
}

/* Ends the attributes; both times are the trace's. */
static char *put_times(const struct otlp *o, uint64_t start_ns, uint64_t end_ns,
		       char *p)
{
	p = PUT_AT(p, "],\"startTimeUnixNano\":\"");
	p = number_put(p, o->t->start_wall_ns + start_ns);
	p = PUT_AT(p, "\",\"endTimeUnixNano\":\"");
	p = number_put(p, o->t->start_wall_ns + end_ns);
	return PUT_AT(p, "\"");
}

static char *put_rest(const struct otlp *o, const struct shown *s, char *p)
{
	p = put_end(put_origin(o, s, p), s->end);
	if (s->n_stops)
		p = PUT_AT(p, ",{\"key\":\"cstrace.stopped\",\"value\":{"
			      "\"boolValue\":true}}");
	return put_times(o, s->start_ns, s->start_ns + s->duration_ns, p);
}

/* Puts a span that may end in any thread, which is in none of those that it
 * overlaps. */
static int put_async(struct otlp *o, const struct function *f,
		     const struct shown *s, const char *site, size_t size,
		     struct bytes *out)
{
	char *begin, *p;

	o->values.len = 0;
	put_values(s->values, f->values, &o->values);
	begin = p =
		(char *)bytes_reserve(out, NUMBERS_MAX + size + o->values.len);
	if (!p)
		return CST_MEMORY;
	if (o->has_span)
		*p++ = ',';
	o->has_span = 1;
	p = put_at(put_ids(o, s, p), site, size);
	if (o->values.len)
		p = put_at(p, (const char *)o->values.data, o->values.len);
	p = put_end(put_origin(o, s, p), s->end);
	p = put_times(o, s->start_ns, s->start_ns + s->duration_ns, p);
	p = PUT_AT(p, "}");
	out->len += (size_t)(p - begin);
	return 0;
}

/* Returns where the text of a span goes that waits until it is over, or NULL
 * when out of memory. */
static struct bytes *span_later(struct otlp *o, uint32_t depth)
{
	struct pending *p;

	if (array_room(&o->pending, &o->cap_pending, o->n_pending + 1ull) < 0)
		return NULL;
	p = &o->pending[o->n_pending++];
	p->depth = depth;
	return &p->text;
}

/* Ends what the call lies behind, and begins its process. */
static void begin_call(struct otlp *o, const struct shown *s, struct bytes *out)
{
	if (s->lane != o->lane) {
		end_spans(o, 0, out);
		clamp_release(&o->nest);
		o->lane = s->lane;
	}
	if (track_process(o->t, s->lane) != o->process)
		begin_process(o, s->lane, out);
	while (o->n_pending && o->pending[o->n_pending - 1].depth >= s->depth)
		end_spans(o, o->n_pending - 1, out);
}

static int put_call(void *arg, struct shown *s, struct bytes *out)
{
	struct otlp *o = arg;
	const struct names *names = o->t->names;
	const struct function *f =
		&names->functions[names->sites[s->site].function];
	size_t size;
	const char *site = site_text_get(&o->sites, s->site, &size);
	char *begin, *p;

	if (!site)
		return CST_MEMORY;
	begin_call(o, s, out);
	if (f->kind == KIND_ASYNC)
		return put_async(o, f, s, site, size, out);
	if (f->kind == KIND_ASYNC_END)
		return 0;
	if (take_event(o, f, s))
		return 0;
	while (clamp_over(&o->nest, s))
		;
	if (clamp_enter(&o->nest, 0, s) < 0)
		return CST_MEMORY;
	o->values.len = 0;
	put_values(s->values, f->values, &o->values);
	if (o->has_events)
		out = span_later(o, s->depth);
	begin = p = out ? (char *)bytes_reserve(out, NUMBERS_MAX + size +
							     o->values.len)
			: NULL;
	if (!p)
		return CST_MEMORY;
	if (!o->has_events && o->has_span)
		*p++ = ',';
	o->has_span |= !o->has_events;
	p = put_ids(o, s, p);
	p = put_at(p, site, size);
	if (o->values.len)
		p = put_at(p, (const char *)o->values.data, o->values.len);
	p = put_rest(o, s, p);
	if (!o->has_events)
		*p++ = '}';
	out->len += (size_t)(p - begin);
	return 0;
}

static void put_head(void *arg, struct bytes *out)
{
	(void)arg;
	PUT(out, "{\"resourceSpans\":[");
}

static int put_tail(void *arg, struct bytes *out)
{
	end_spans(arg, 0, out);
	end_process(arg, out);
	PUT(out, "]}\n");
	return 0;
}

static const struct exporter otlp = {
	.is_by_lane = 1,
	.begin = put_head,
	.call = put_call,
	.end = put_tail,
};

int64_t otlp_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err)
{
	auto_free struct otlp *o = calloc(1, sizeof(*o));
	int64_t status;

	if (!o)
		return cst_fail_memory(err);
	o->t = t;
	o->lane = o->process = UINT32_MAX;
	make_trace_id(o);
	for (uint32_t i = 0; i < t->names->n_functions; i++)
		o->has_events |= t->names->functions[i].kind > KIND_SPAN;
	status = site_text_init(&o->sites, t, put_site, err);
	if (status == 0)
		status = exporter_run(&otlp, o, t, choice, write, arg, err);
	clamp_release(&o->nest);
	site_text_release(&o->sites);
	for (uint32_t i = 0; i < o->cap_pending; i++) {
		bytes_release(&o->pending[i].text);
		bytes_release(&o->pending[i].events);
	}
	free(o->pending);
	bytes_release(&o->values);
	return status;
}
