/* SPDX-License-Identifier: MIT
 *
 * Between its numbers a line is the same for all calls of a site (names) and
 * of a lane (process, thread): those parts are made once and copied.
 */
#include "formats/jsonl.h"
#include "formats/exporter.h"
#include "formats/site_text.h"
#include "names/json.h"
#include "names/put.h"
#include "names/values_json.h"
#include "names/values_text.h"
#include "rows/row.h"
#include "trace/callid.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	NAME_ROOM = 4000,
	NUMBERS_MAX = 512, /* of a line, beside its names */
};

struct jsonl {
	const struct cst_trace *t;
	struct bytes values; /* what the last call had of them */
	struct site_text sites, froms;
	struct bytes left_by; /* what left the last call ... */
	uint32_t thrown;      /* ... as struct shown has it */
};

/* ,"key":"text" or ,"key":null */
static void put_string(struct bytes *out, const char *key, const char *text)
{
	bytes_put(out, ",\"", 2);
	bytes_put(out, key, strlen(key));
	bytes_put(out, "\":", 2);
	json_put_string(out, text);
}

static void put_line_number(struct bytes *out, uint32_t line)
{
	char text[24];

	bytes_put(out, ",\"line\":", 8);
	if (line)
		bytes_put(out, text, (size_t)(number_put(text, line) - text));
	else
		bytes_put(out, "null", 4);
}

/* Puts a function's name as rows have it. */
static void put_name(const struct cst_trace *t, uint32_t function,
		     struct bytes *out)
{
	char name[NAME_ROOM + 64];

	*row_put_function(name, t->names, function, CST_NAMES_SIMPLE,
			  NAME_ROOM) = '\0';
	put_string(out, "name", name);
}

/* What is thrown, is caught, or has left a call. */
static void put_exception(const struct function *f, struct bytes *out)
{
	size_t size;
	const char *thrown = names_thrown(f, &size);
	char type[4096] = "";

	if (thrown)
		snprintf(type, sizeof(type), "%.*s", (int)size, thrown);
	bytes_put(out, ",\"exception\":{\"type\":", 21);
	json_put_string(out, *type ? type : NULL);
	put_string(out, "what", f->message);
	bytes_put(out, "}", 1);
}

/* The word for a row of cstrace.h; NULL: it is a call or an exception. */
static const char *own_word(const struct function *f)
{
	switch (f->kind) {
	case KIND_SPAN:
		return "span";
	case KIND_MESSAGE:
	case KIND_POINT:
		return names_said(f);
	case KIND_COUNT:
		return "count";
	case KIND_ASYNC:
		return "async";
	case KIND_ASYNC_END:
		return "async end";
	default:
		return NULL;
	}
}

static void put_site(const struct cst_trace *t, uint32_t id, struct bytes *out)
{
	const struct call_site *site = &t->names->sites[id];
	const struct function *f = &t->names->functions[site->function];

	if (function_is_exception(f)) { /* not a call */
		put_string(out, "kind", exception_word(f->kind));
		put_exception(f, out);
	}
	if (own_word(f))
		put_string(out, "kind", own_word(f));
	put_string(out, "function", f->name);
	if (own_word(f))
		put_string(out, "name", names_bare(f));
	else
		put_name(t, site->function, out);
	put_string(out, "symbol", function_is_exception(f) ? NULL : f->symbol);
	put_string(out, "module", f->module);
	put_string(out, "file", site->file);
	put_line_number(out, site->file ? site->line : 0);
	if (site->is_tail)
		bytes_put(out, ",\"tail\":true", 12);
}

static void put_first(const struct function *f, const struct values *v,
		      int of_result, const char *key, struct bytes *out)
{
	struct value first;

	if (of_result ? !values_result(v, f->values, &first)
		      : !values_first(v, &first))
		return;
	bytes_put(out, key, strlen(key));
	value_put_json(out, &first);
}

static void put_message(const struct function *f, const struct values *v,
			struct bytes *out)
{
	char text[VALUES_ROOM];

	values_message(f, v, text, sizeof(text));
	put_string(out, "text", text);
}

/* The values of a call, and what a row has in place of one. */
static const struct bytes *values_of(struct jsonl *j, const struct shown *s)
{
	const struct names *names = j->t->names;
	const struct function *f =
		&names->functions[names->sites[s->site].function];
	const struct values *v = s->values;
	struct bytes *out = &j->values;

	out->len = 0;
	if (function_has_text(f))
		put_message(f, v, out);
	if (!v)
		return out;
	if (f->kind == KIND_COUNT)
		put_first(f, v, 0, ",\"value\":", out);
	else if (function_is_async(f))
		put_first(f, v, 0, ",\"async\":", out);
	if (v->n && f->kind != KIND_COUNT && f->kind != KIND_POINT) {
		bytes_put(out, ",\"args\":", 8);
		values_put_json(out, v->data, v->n, f->values);
	}
	put_first(f, v, 1, ",\"result\":", out);
	return out;
}

/* Puts where the nearest visible caller called from, for calls whose own
 * callers are hidden. */
static void put_from(const struct cst_trace *t, uint32_t id, struct bytes *out)
{
	const struct call_site *from = &t->names->sites[id];

	bytes_put(out, ",\"from\":{\"file\":", 16);
	json_put_string(out, from->file);
	put_line_number(out, from->file ? from->line : 0);
	bytes_put(out, "}", 1);
}

static char *put_head(const struct jsonl *j, const struct shown *s, char *p)
{
	const struct trace_thread *thread = &j->t->threads[s->thread];

	p = PUT_AT(p, "{\"id\":\"");
	p = callid_put(p, thread, s->number, s->is_seed);
	p = PUT_AT(p, "\",\"parent\":");
	if (s->parent == PARENT_NONE) {
		p = PUT_AT(p, "null");
	} else {
		*p++ = '"';
		p = callid_put(p, &j->t->threads[s->parent_thread],
			       s->parent_number, s->parent == PARENT_SEED);
		*p++ = '"';
	}
	p = PUT_AT(p, ",\"process\":");
	p = number_put(p, thread->pid);
	p = PUT_AT(p, ",\"thread\":");
	p = number_put(p, thread->tid);
	p = PUT_AT(p, ",\"lane\":");
	p = number_put(p, j->t->lanes[s->lane].ordinal);
	p = PUT_AT(p, ",\"depth\":");
	return number_put(p, s->depth);
}

static char *put_tail(const struct cst_trace *t, const struct shown *s, char *p)
{
	p = PUT_AT(p, ",\"start_ns\":");
	p = s->is_seed ? PUT_AT(p, "null") : number_put(p, s->start_ns);
	p = PUT_AT(p, ",\"duration_ns\":");
	if (s->end == CALL_OPEN)
		return PUT_AT(p, "null,\"end\":\"open\"}\n");
	p = number_put(p, s->duration_ns);
	if (shown_is_stopped(s))
		p = PUT_AT(p, ",\"stopped\":true");
	if (shown_is_vetoed(t, s))
		return PUT_AT(p, ",\"end\":\"vetoed\"}\n");
	return s->end == CALL_UNWOUND ? PUT_AT(p, ",\"end\":\"unwound\"}\n")
	       : s->end == CALL_ESTIMATED
		       ? PUT_AT(p, ",\"end\":\"estimated\"}\n")
		       : PUT_AT(p, ",\"end\":\"return\"}\n");
}

/* What has left the call, if that is known; calls side by side were often left
 * by the same one. */
static const struct bytes *left_by(struct jsonl *j, const struct shown *s)
{
	const struct names *names = j->t->names;

	if (s->thrown == j->thrown)
		return &j->left_by;
	j->thrown = s->thrown;
	j->left_by.len = 0;
	if (s->thrown && s->thrown <= names->n_functions &&
	    function_is_exception(&names->functions[s->thrown - 1]))
		put_exception(&names->functions[s->thrown - 1], &j->left_by);
	return &j->left_by;
}

static int put_call(void *arg, struct shown *s, struct bytes *out)
{
	struct jsonl *j = arg;
	const struct bytes *thrown = left_by(j, s), *values = values_of(j, s);
	size_t size = 0, from_size = 0;
	const char *site = site_text_get(&j->sites, s->site, &size), *from = "";
	char *begin, *p;

	if (s->from != s->site)
		from = site_text_get(&j->froms, s->from, &from_size);
	if (!site || !from || thrown->failed || values->failed)
		return CST_MEMORY;
	begin = p =
		(char *)bytes_reserve(out, NUMBERS_MAX + size + from_size +
						   thrown->len + values->len);
	if (!p)
		return CST_MEMORY;
	p = put_head(j, s, p);
	p = put_at(p, site, size);
	p = put_at(p, from, from_size);
	if (thrown->len)
		p = put_at(p, (const char *)thrown->data, thrown->len);
	if (values->len)
		p = put_at(p, (const char *)values->data, values->len);
	p = put_tail(j->t, s, p);
	out->len += (size_t)(p - begin);
	return 0;
}

static const struct exporter jsonl = {.has_window = 1, .call = put_call};

int64_t jsonl_write(const struct cst_trace *t, const struct cst_choice *choice,
		    cst_write_fn write, void *arg, struct cst_error *err)
{
	auto_free struct jsonl *j = calloc(1, sizeof(*j));
	int64_t status;

	if (!j)
		return cst_fail_memory(err);
	j->t = t;
	status = site_text_init(&j->sites, t, put_site, err);
	if (status == 0)
		status = site_text_init(&j->froms, t, put_from, err);
	if (status == 0)
		status = exporter_run(&jsonl, j, t, choice, write, arg, err);
	site_text_release(&j->sites);
	site_text_release(&j->froms);
	bytes_release(&j->left_by);
	bytes_release(&j->values);
	return status;
}
