/* SPDX-License-Identifier: MIT
 *
 * A process is a resource, so lanes come one after the other.  IDs are made
 * from the trace and the call, not by chance: what is saved twice, in parts
 * or by two readers, is the same trace.  A span begins where the call did in
 * the program's time, which stands still at gdb's prompt.
 */
#include "formats/otlp.h"
#include "formats/exporter.h"
#include "trace/clamp.h"
#include "formats/site_text.h"
#include "formats/thread_ids.h"
#include "names/json.h"
#include "names/put.h"
#include "trace/callid.h"

#include <stdlib.h>

enum {
	NUMBERS_MAX = 1024, /* of a span, beside its names */
};

struct otlp {
	const struct cst_trace *t;
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
	uint64_t h = hash(0xcbf29ce484222325u, t->host, strlen(t->host));

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
	json_put_string(out, f->name);
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
	if (f->module) {
		PUT(out, ",");
		put_string_attribute(out, "cstrace.module", f->module);
	}
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

static char *put_rest(const struct otlp *o, const struct shown *s, char *p)
{
	const struct trace_thread *thread = &o->t->threads[s->thread];
	uint64_t start = o->t->start_wall_ns + s->start_ns;

	p = PUT_AT(p, ",{\"key\":\"thread.id\",\"value\":{\"intValue\":\"");
	p = number_put(p, thread->tid);
	p = PUT_AT(
		p,
		"\"}},{\"key\":\"cstrace.id\",\"value\":{\"stringValue\":\"");
	p = callid_put(p, thread, s->number, s->is_seed);
	p = PUT_AT(p,
		   "\"}},{\"key\":\"cstrace.end\",\"value\":{\"stringValue\":");
	p = s->end == CALL_OPEN	     ? PUT_AT(p, "\"open\"}}")
	    : s->end == CALL_UNWOUND ? PUT_AT(p, "\"unwound\"}}")
				     : PUT_AT(p, "\"return\"}}");
	if (s->n_stops)
		p = PUT_AT(p, ",{\"key\":\"cstrace.stopped\",\"value\":{"
			      "\"boolValue\":true}}");
	p = PUT_AT(p, "],\"startTimeUnixNano\":\"");
	p = number_put(p, start);
	p = PUT_AT(p, "\",\"endTimeUnixNano\":\"");
	p = number_put(p, start + s->duration_ns);
	return PUT_AT(p, "\"}");
}

static int put_call(void *arg, struct shown *s, struct bytes *out)
{
	struct otlp *o = arg;
	size_t size;
	const char *site = site_text_get(&o->sites, s->site, &size);
	char *begin, *p;

	if (s->lane != o->lane) {
		clamp_release(&o->nest);
		o->lane = s->lane;
	}
	if (track_process(o->t, s->lane) != o->process)
		begin_process(o, s->lane, out);
	while (clamp_over(&o->nest, s))
		;
	if (!site || clamp_enter(&o->nest, 0, s) < 0)
		return CST_MEMORY;
	begin = p = (char *)bytes_reserve(out, NUMBERS_MAX + size);
	if (!p)
		return CST_MEMORY;
	if (o->has_span)
		*p++ = ',';
	o->has_span = 1;
	p = put_ids(o, s, p);
	p = put_at(p, site, size);
	p = put_rest(o, s, p);
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
	status = site_text_init(&o->sites, t, put_site, err);
	if (status == 0)
		status = exporter_run(&otlp, o, t, choice, write, arg, err);
	clamp_release(&o->nest);
	site_text_release(&o->sites);
	return status;
}
