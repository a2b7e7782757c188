/* SPDX-License-Identifier: MIT
 *
 * The page, then what is small (as JSON), then the tree of stacks, then the
 * calls, at most HTML_MOST_CALLS of them: the longest.
 */
#include "formats/html.h"
#include "base/pipeline.h"
#include "trace/call_paths.h"
#include "formats/html_calls.h"
#include "formats/html_data.h"
#include "formats/html_page.h"
#include "formats/html_sums.h"
#include "formats/thread_ids.h"
#include "names/json.h"
#include "names/put.h"
#include "report/fields.h"
#include "rows/row.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum {
	PIECE = 1 << 16, /* stacks */
	DEEPEST = 1 << 14,
	NAME_ROOM = 4000,
	NAME_MAX_BYTES = 4096,
};

enum state { AT_PAGE, AT_HEAD, AT_STACKS, AT_CALLS };

struct html {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct html_sums sums;
	struct call_paths stacks;
	struct html_calls *calls;
	struct bytes raw;
	enum state state;
	uint32_t next; /* stack */
};

__attribute__((format(printf, 2, 3))) static void
put_format(struct bytes *out, const char *format, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	bytes_put(out, text, (size_t)n);
}

/* Puts a name as rows have it: what is not printable is escaped. */
static void put_name(struct bytes *out, const char *name)
{
	char text[NAME_MAX_BYTES];

	if (!name) {
		PUT(out, "null");
		return;
	}
	*row_put_text(text, name, NAME_ROOM) = '\0';
	json_put_string(out, text);
}

/* Puts a function: its name as rows have it; its module; its file; and the full
 * name, if that is another. */
static void put_function(const struct names *names, uint32_t id, int how,
			 struct bytes *out)
{
	const struct function *f = &names->functions[id];
	char shown[NAME_MAX_BYTES + 32];

	*row_put_function(shown, names, id, how, NAME_ROOM) = '\0';
	PUT(out, "[");
	json_put_string(out, shown);
	PUT(out, ",");
	put_name(out, f->module);
	PUT(out, ",");
	put_name(out, f->file);
	if (strcmp(shown, f->name) != 0) {
		PUT(out, ",");
		put_name(out, f->name);
	}
	PUT(out, "]");
}

static const char *instant_word(const struct function *f)
{
	switch (f->kind) {
	case KIND_MESSAGE:
	case KIND_POINT:
		return "log";
	case KIND_COUNT:
		return "count";
	case KIND_ASYNC:
	case KIND_ASYNC_END:
		return "async";
	default:
		return exception_word(f->kind);
	}
}

/* Which functions are spans of the program's own. */
static void put_spans(const struct names *names, struct bytes *out)
{
	const char *comma = "";

	PUT(out, "],\n\"spans\":[");
	for (uint32_t i = 0; i < names->n_functions; i++) {
		if (names->functions[i].kind != KIND_SPAN)
			continue;
		put_format(out, "%s%" PRIu32, comma, i);
		comma = ",";
	}
}

/* Which functions are none, but what an exception does or the program says:
 * "throw", "log", ... */
static void put_instants(const struct names *names, struct bytes *out)
{
	const char *comma = "";

	PUT(out, "],\n\"instants\":[");
	for (uint32_t i = 0; i < names->n_functions; i++) {
		const struct function *f = &names->functions[i];

		if (!function_is_instant(f))
			continue;
		put_format(out, "%s[%" PRIu32 ",\"%s\"]", comma, i,
			   instant_word(f));
		comma = ",";
	}
}

static void put_names(const struct names *names, int how, struct bytes *out)
{
	PUT(out, ",\n\"functions\":[");
	for (uint32_t i = 0; i < names->n_functions; i++) {
		bytes_put(out, i ? ",\n" : "\n", i ? 2 : 1);
		put_function(names, i, how, out);
	}
	put_instants(names, out);
	put_spans(names, out);
	PUT(out, "],\n\"sites\":[");
	for (uint32_t i = 0; i < names->n_sites; i++) {
		const struct call_site *s = &names->sites[i];

		put_format(out, "%s[%" PRIu32 ",%" PRIu32 ",", i ? ",\n" : "\n",
			   s->function, s->line);
		put_name(out, s->file);
		if (s->is_tail)
			PUT(out, ",1");
		PUT(out, "]");
	}
	PUT(out, "]");
}

/* "worker", or "worker, stack 2". */
static void put_lane_name(const struct cst_trace *t, uint32_t lane,
			  struct bytes *out)
{
	uint32_t ordinal = t->lanes[lane].ordinal;
	char text[NAME_MAX_BYTES + 32], *end;

	end = row_put_text(text, track_thread_name(t, lane), NAME_ROOM);
	*end = '\0';
	if (ordinal)
		snprintf(end, 32, ", stack %" PRIu32, ordinal);
	json_put_string(out, text);
}

static void put_lanes(const struct cst_trace *t, struct bytes *out)
{
	PUT(out, ",\n\"threads\":[");
	for (uint32_t i = 0; i < t->n_threads; i++) {
		const struct trace_thread *h = &t->threads[i];

		put_format(out,
			   "%s{\"process\":%" PRIu32 ",\"pid\":%" PRIu32
			   ",\"ordinal\":%" PRIu32 ",\"tid\":%" PRIu32
			   ",\"name\":",
			   i ? ",\n" : "\n", h->process, h->pid, h->ordinal,
			   h->tid);
		put_name(out, h->name);
		PUT(out, "}");
	}
	PUT(out, "],\n\"lanes\":[");
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		put_format(out, "%s{\"thread\":%" PRIu32 ",\"name\":",
			   i ? ",\n" : "\n", t->lanes[i].thread);
		put_lane_name(t, i, out);
		PUT(out, "}");
	}
	PUT(out, "]");
}

/* Which of a function's times gdb's stops are in, a bit for each. */
static uint32_t stopped_fields(const struct total *s)
{
	static const uint8_t all[] = {FIELD_TOTAL, FIELD_SELF, FIELD_MIN,
				      FIELD_MAX};
	uint32_t bits = 0;

	for (uint32_t i = 0; i < sizeof(all); i++)
		if (field_is_stopped((enum field)all[i], s))
			bits |= 1u << i;
	return bits;
}

/* For each function: its number, calls, total, self, min, max, and the bits of
 * stopped_fields(). */
static void put_sums(const struct html *h, struct bytes *out)
{
	int is_first = 1;

	PUT(out, ",\n\"sums\":[");
	for (uint32_t i = 0; i < h->t->names->n_functions; i++) {
		const struct total *s = &h->sums.all[i];

		if (!s->n_calls)
			continue;
		put_format(out,
			   "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			   ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]",
			   is_first ? "\n" : ",\n", i, s->n_calls, s->total_ns,
			   total_self(s), s->min_ns, s->max_ns,
			   stopped_fields(s));
		is_first = 0;
	}
	PUT(out, "]");
}

/* What the page says where calls are missing: which were chosen, and which
 * were never recorded. */
static void put_choice(const struct cst_choice *choice, struct bytes *out)
{
	char text[NAME_MAX_BYTES];

	cst_choice_text(choice, text, sizeof(text));
	PUT(out, ",\n\"choice\":");
	put_name(out, text);
}

typedef int lack_fn(const struct cst_losses *, uint32_t, char *, uint32_t);

static void put_lacks(const struct cst_losses *l, lack_fn *lack,
		      struct bytes *out)
{
	char text[256];

	for (uint32_t i = 0; lack(l, i, text, sizeof(text)); i++) {
		if (i)
			PUT(out, ",");
		put_name(out, text);
	}
}

static void put_losses(const struct cst_losses *l, struct bytes *out)
{
	PUT(out, ",\n\"losses\":[");
	put_lacks(l, cst_losses_text, out);
	PUT(out, "],\"untraced\":[");
	put_lacks(l, cst_losses_untraced, out);
	PUT(out, "]");
}

static int put_head(struct html *h, struct bytes *out)
{
	const struct cst_trace *t = h->t;
	struct bytes *raw = &h->raw;
	uint64_t n_recorded = t->status.n_calls + t->status.n_seeds;

	PUT(raw, "{\"version\":\"" CST_VERSION "\",\"command\":");
	put_name(raw, t->command);
	PUT(raw, ",\"host\":");
	put_name(raw, t->host);
	put_format(raw,
		   ",\"start_wall_ns\":\"%" PRIu64 "\",\"duration_ns\":%" PRIu64
		   ",\"n_calls\":%" PRIu64 ",\"n_rows\":%" PRIu64
		   ",\"n_recorded\":%" PRIu64 ",\"least_ns\":%" PRIu64
		   ",\"n_not_stacked\":%" PRId64
		   ",\"most_levels\":%d,\"most_stacks\":%d"
		   ",\"is_cut\":%d,\"is_sealed\":%d",
		   t->start_wall_ns, trace_ns(t, t->end_ticks - t->start_ticks),
		   h->sums.n_calls, h->sums.n_rows, n_recorded,
		   h->sums.least_ns, h->stacks.n_left_out, DEEPEST, STACKS_MOST,
		   t->is_cut, t->is_sealed);
	put_choice(h->choice, raw);
	put_losses(&t->status.losses, raw);
	put_names(t->names, h->choice->names, raw);
	put_lanes(t, raw);
	put_sums(h, raw);
	PUT(raw, "}");
	return html_data_put(out, "head", raw);
}

/* For each stack: its caller + 1, function, calls, total, self, calls that gdb
 * stopped the program in, stops in its own code. */
static int put_stacks(struct html *h, struct bytes *out)
{
	uint32_t n = h->stacks.nodes.n - h->next;

	h->raw.len = 0;
	html_put_number(&h->raw, n < PIECE ? n : PIECE);
	for (n = 0; n < PIECE && h->next < h->stacks.nodes.n; n++) {
		const struct pair *node = &h->stacks.nodes.all[h->next];
		const struct total *sums = &h->stacks.sums[h->next++].total;

		html_put_number(&h->raw, node->a + 1u);
		html_put_number(&h->raw, node->b);
		html_put_number(&h->raw, sums->n_calls);
		html_put_number(&h->raw, sums->total_ns);
		html_put_number(&h->raw, total_self(sums));
		html_put_number(&h->raw, sums->n_stopped);
		html_put_number(&h->raw, sums->own_stops > 0
						 ? (uint64_t)sums->own_stops
						 : 0);
	}
	return html_data_put(out, "stacks", &h->raw);
}

/* The last piece: without it the file is cut. */
static int put_end(struct html *h, struct bytes *out)
{
	h->raw.len = 0;
	html_put_number(&h->raw, html_calls_n(h->calls));
	html_put_number(&h->raw, html_calls_n_lost(h->calls));
	return html_data_put(out, "end", &h->raw);
}

/* What is known before the first call goes out. */
static int begin(struct html *h, struct bytes *out, struct cst_error *err)
{
	int status = html_page_read(out, err);

	if (status == 0)
		status = html_sums_make(&h->sums, h->t, h->choice,
					HTML_MOST_CALLS, err);
	if (status == 0)
		status = call_paths_make(&h->stacks, h->t, h->choice, DEEPEST,
					 err);
	if (status == 0)
		status = html_calls_new(h->t, h->choice, h->sums.least_ns,
					HTML_MOST_CALLS, &h->calls, err);
	return status;
}

static int html_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct html *h = arg;
	int status = 1;

	switch (h->state) {
	case AT_PAGE:
		status = begin(h, out, err);
		h->state = AT_HEAD;
		return status < 0 ? status : 1;
	case AT_HEAD:
		status = put_head(h, out);
		h->state = AT_STACKS;
		break;
	case AT_STACKS:
		status = put_stacks(h, out);
		if (h->next == h->stacks.nodes.n)
			h->state = AT_CALLS;
		break;
	case AT_CALLS:
		status = html_calls_put(h->calls, out, err);
		if (status)
			return status;
		if (put_end(h, out) < 0)
			return cst_fail_memory(err);
		return 0;
	}
	return status < 0 ? cst_fail_memory(err) : 1;
}

int64_t html_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err)
{
	struct html h = {.t = t, .choice = choice};
	int64_t status = pipeline_run(html_fill, &h, write, arg, err);

	if (status == 0)
		status = (int64_t)h.sums.n_calls;
	html_calls_free(h.calls);
	html_sums_release(&h.sums);
	call_paths_release(&h.stacks);
	bytes_release(&h.raw);
	return status;
}
