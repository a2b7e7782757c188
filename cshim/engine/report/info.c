/* SPDX-License-Identifier: MIT
 *
 * What a trace holds: how much of what, and which files it was made with.
 */
#include "base/bytes.h"
#include "base/utf8.h"
#include "names/sheet.h"
#include "trace/loader.h"
#include "trace/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_SIZE = 256 };

__attribute__((format(printf, 2, 3))) static void put(struct bytes *out,
						      const char *format, ...)
{
	char line[LINE_MAX_SIZE];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	bytes_put(out, line, n < LINE_MAX_SIZE ? (size_t)n : sizeof(line) - 1);
}

/* What is the traced program's: no escape codes from there. */
static void put_escaped(struct bytes *out, const char *text)
{
	unsigned room = (unsigned)strlen(text) * 4 + 3;
	char *to = (char *)bytes_reserve(out, room);

	if (to)
		out->len += (size_t)(utf8_put(to, text, room) - to);
}

static void put_duration(struct bytes *out, uint64_t ns)
{
	if (ns < 1000000)
		put(out, "duration    %.3f us\n", (double)ns / 1e3);
	else if (ns < 1000000000)
		put(out, "duration    %.3f ms\n", (double)ns / 1e6);
	else
		put(out, "duration    %.3f s\n", (double)ns / 1e9);
}

static void put_size(struct bytes *out, uint64_t n)
{
	if (n < 1 << 20)
		put(out, "size        %.1f KiB\n", (double)n / (1 << 10));
	else
		put(out, "size        %.1f MiB\n", (double)n / (1 << 20));
}

static void put_losses(struct bytes *out, const struct cst_losses *l)
{
	char text[80];
	uint32_t i = 0;

	put(out, "lost        ");
	for (; cst_losses_text(l, i, text, sizeof(text)); i++)
		put(out, i ? ", %s" : "%s", text);
	put(out, i ? "\n" : "none\n");
}

static void put_untraced(struct bytes *out, const struct cst_losses *l)
{
	char text[LINE_MAX_SIZE - 16];

	for (uint32_t i = 0; cst_losses_untraced(l, i, text, sizeof(text)); i++)
		put(out, "untraced    %s\n", text);
}

/* A file that is mapped in pieces, or in several programs, once. */
static int is_listed(const struct cst_trace *t, uint32_t i,
		     const struct cst_module *m)
{
	struct cst_module other;

	while (i-- && cst_trace_module(t, i, &other))
		if (!strcmp(m->path, other.path) &&
		    !strcmp(m->build_id, other.build_id))
			return 1;
	return 0;
}

/* Files that are not here do not count as changed: the trace may be from
 * another machine. */
static int is_changed(const struct cst_module *m)
{
	char now[CST_BUILD_ID_SIZE];

	return *m->build_id && cst_build_id(m->path, now) &&
	       strcmp(m->build_id, now);
}

static void put_symbols(struct bytes *out, const struct trace_module *m)
{
	if (!m->symbols || !strcmp(m->symbols, m->path))
		return;
	put(out, ", names from ");
	put_escaped(out, m->symbols);
}

static void put_modules(struct bytes *out, const struct cst_trace *t)
{
	struct cst_module m;

	for (uint32_t i = 0; cst_trace_module(t, i, &m); i++) {
		if (is_listed(t, i, &m))
			continue;
		put(out, "module      ");
		put_escaped(out, m.path);
		if (*m.build_id)
			put(out, ", build-id %s", m.build_id);
		if (is_changed(&m))
			put(out, " (the file there now is another)");
		put_symbols(out, &t->modules[i]);
		put(out, "\n");
	}
}

static void put_command(struct bytes *out, const char *command)
{
	if (!command || !*command)
		return;
	put(out, "command     ");
	put_escaped(out, command);
	put(out, "\n");
}

static void put_samples(struct bytes *out, const struct cst_status_report *s)
{
	static const char *const sources[] = {"", ", by timers",
					      ", by perf events",
					      ", by stops from outside"};

	if (!s->n_samples)
		return;
	put(out, "samples     %" PRIu64 ", %" PRIu32 " a second %s%s",
	    s->n_samples, s->sample_hz,
	    s->sample_clock ? "on the clock" : "of CPU time",
	    s->sample_source < 4 ? sources[s->sample_source] : "");
	if (s->losses.n_samples)
		put(out, "; %" PRIu64 " lost", s->losses.n_samples);
	put(out, "\n");
}

static const char *other_word(const struct function *f)
{
	switch (f->kind) {
	case KIND_SPAN:
	case KIND_ASYNC:
	case KIND_ASYNC_END:
		return "spans";
	case KIND_MESSAGE:
	case KIND_POINT:
		return "messages";
	case KIND_COUNT:
		return "counters' values";
	case KIND_VETO:
		return "vetoes";
	default:
		return function_is_exception(f) ? "exceptions" : NULL;
	}
}

/* Rows that are no calls, and what there is among them. */
static void put_others(struct bytes *out, const struct cst_trace *t)
{
	static const char *const words[] = {"spans", "messages",
					    "counters' values", "exceptions",
					    "vetoes"};
	const char *before = ": ";

	if (!t->n_notes)
		return;
	put(out, "other rows  %" PRIu64, t->n_notes);
	for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
		for (uint32_t i = 0; i < t->names->n_functions; i++) {
			const char *word = other_word(&t->names->functions[i]);

			if (!word || strcmp(word, words[w]) != 0)
				continue;
			put(out, "%s%s", before, word);
			before = ", ";
			break;
		}
	put(out, "\n");
}

static void put_text(struct bytes *out, const struct cst_trace *t,
		     const struct cst_status_report *s)
{
	put_command(out, cst_trace_command(t));
	put(out, "calls       %" PRIu64, s->n_calls);
	if (s->n_seeds)
		put(out, " and %" PRIu64 " from before the trace", s->n_seeds);
	put(out, " (%" PRIu64 " open, %" PRIu64 " unwound)\n", s->n_open,
	    s->n_unwound);
	put_others(out, t);
	put_samples(out, s);
	put_duration(out, s->duration_ns);
	put(out, "threads     %" PRIu32 " in %" PRIu32 " process%s\n",
	    s->n_threads, s->n_processes, s->n_processes == 1 ? "" : "es");
	put(out, "functions   %" PRIu32 ", called from %" PRIu32 " places\n",
	    s->n_functions, s->n_sites);
	put_losses(out, &s->losses);
	put_untraced(out, &s->losses);
	put_size(out, s->spool_bytes);
	put_modules(out, t);
}

/* ---- for programs ------------------------------------------------------- */

static void put_member(struct sheet *sheet, const char *key, uint64_t v)
{
	if (sheet->output == CST_OUTPUT_JSON) {
		sheet_member_number(sheet, key, v);
		return;
	}
	sheet_text(sheet, key);
	sheet_number(sheet, v);
}

static void put_member_text(struct sheet *sheet, const char *key,
			    const char *text)
{
	if (sheet->output == CST_OUTPUT_JSON) {
		sheet_member_text(sheet, key, text);
		return;
	}
	sheet_text(sheet, key);
	sheet_text(sheet, text);
}

static void put_members(struct sheet *sheet, const struct cst_trace *t,
			const struct cst_status_report *s)
{
	put_member_text(sheet, "command", cst_trace_command(t));
	put_member(sheet, "calls", s->n_calls);
	put_member(sheet, "calls_from_before", s->n_seeds);
	put_member(sheet, "calls_open", s->n_open);
	put_member(sheet, "calls_unwound", s->n_unwound);
	put_member(sheet, "rows_that_are_no_calls", t->n_notes);
	if (s->n_samples) {
		put_member(sheet, "samples", s->n_samples);
		put_member(sheet, "samples_a_second", s->sample_hz);
		put_member(sheet, "samples_lost", s->losses.n_samples);
	}
	put_member(sheet, "duration_ns", s->duration_ns);
	put_member(sheet, "threads", s->n_threads);
	put_member(sheet, "processes", s->n_processes);
	put_member(sheet, "functions", s->n_functions);
	put_member(sheet, "call_sites", s->n_sites);
	put_member(sheet, "records_lost", cst_losses_records(&s->losses));
	put_member(sheet, "calls_past_the_size_limit", s->losses.n_limit);
	put_member(sheet, "calls_not_kept", s->losses.n_dropped);
	put_member(sheet, "size_bytes", s->spool_bytes);
	if (sheet->output == CST_OUTPUT_JSON) {
		sheet_member_truth(sheet, "is_whole", t->is_sealed);
		return;
	}
	sheet_text(sheet, "is_whole");
	sheet_truth(sheet, t->is_sealed);
}

static void put_json(struct bytes *out, const struct cst_trace *t,
		     const struct cst_status_report *s)
{
	static const char *const untraced[] = {"text", NULL};
	static const char *const modules[] = {"path", "build_id", "is_changed",
					      "names_from", NULL};
	char text[LINE_MAX_SIZE - 16];
	struct cst_module m;
	struct sheet sheet;

	sheet_begin(&sheet, CST_OUTPUT_JSON, out);
	put_members(&sheet, t, s);
	sheet_table(&sheet, "untraced", untraced);
	for (uint32_t i = 0;
	     cst_losses_untraced(&s->losses, i, text, sizeof(text)); i++)
		sheet_text(&sheet, text);
	sheet_table_end(&sheet);
	sheet_table(&sheet, "modules", modules);
	for (uint32_t i = 0; cst_trace_module(t, i, &m); i++) {
		if (is_listed(t, i, &m))
			continue;
		sheet_text(&sheet, m.path);
		sheet_text(&sheet, *m.build_id ? m.build_id : NULL);
		sheet_truth(&sheet, is_changed(&m));
		sheet_text(&sheet, t->modules[i].symbols ? t->modules[i].symbols
							 : m.path);
	}
	sheet_table_end(&sheet);
	sheet_end(&sheet);
}

static void put_csv(struct bytes *out, const struct cst_trace *t,
		    const struct cst_status_report *s)
{
	static const char *const columns[] = {"key", "value", NULL};
	char text[LINE_MAX_SIZE - 16];
	struct cst_module m;
	struct sheet sheet;

	sheet_begin(&sheet, CST_OUTPUT_CSV, out);
	sheet_table(&sheet, NULL, columns);
	put_members(&sheet, t, s);
	for (uint32_t i = 0;
	     cst_losses_untraced(&s->losses, i, text, sizeof(text)); i++)
		put_member_text(&sheet, "untraced", text);
	for (uint32_t i = 0; cst_trace_module(t, i, &m); i++)
		if (!is_listed(t, i, &m))
			put_member_text(&sheet, "module", m.path);
	sheet_table_end(&sheet);
	sheet_end(&sheet);
}

static int has_spans(const struct cst_trace *t)
{
	for (uint32_t i = 0; i < t->names->n_functions; i++)
		if (t->names->functions[i].kind == KIND_SPAN)
			return 1;
	return 0;
}

/* The file counts all that is open or was unwound; *s is to count calls. */
static int leave_out_spans(const struct cst_trace *t,
			   struct cst_status_report *s, struct cst_error *err)
{
	const struct cst_choice all = {.std = 1};
	const struct names *names = t->names;
	struct shown *call;
	struct view *view;
	int status;

	if (!has_spans(t) || !(s->n_open | s->n_unwound))
		return 0;
	status = view_new_calls(t, &all, 1, &view, err);
	if (status < 0)
		return status;
	while ((status = view_next(view, &call, err)) > 0) {
		const struct call_site *site = &names->sites[call->site];

		if (names->functions[site->function].kind != KIND_SPAN)
			continue;
		s->n_open -= call->end == CALL_OPEN && s->n_open;
		s->n_unwound -= call->end == CALL_UNWOUND && s->n_unwound;
	}
	view_free(view);
	return status;
}

int cst_trace_info(const struct cst_trace *t, uint32_t output,
		   cst_write_fn write, void *arg, struct cst_error *err)
{
	struct cst_status_report s;
	struct bytes out = {0};
	int status;

	cst_trace_status(t, &s);
	status = leave_out_spans(t, &s, err);
	if (status < 0)
		return status;
	if (output == CST_OUTPUT_JSON)
		put_json(&out, t, &s);
	else if (output == CST_OUTPUT_CSV)
		put_csv(&out, t, &s);
	else
		put_text(&out, t, &s);
	if (out.failed)
		status = cst_fail_memory(err);
	else if (write(arg, (const char *)out.data, out.len) < 0)
		status = cst_fail(CST_INTERRUPTED, err, "interrupted");
	bytes_release(&out);
	return status;
}
