/* SPDX-License-Identifier: MIT
 *
 * A trace against a golden tree, thread by thread, and what to tell of the
 * first call that does not fit.
 */
#include "base/outfile.h"
#include "diff/divergence_text.h"
#include "golden/golden_options.h"
#include "golden/matcher.h"
#include "names/sheet.h"
#include "trace/callid.h"
#include "trace/thread_choice.h"

#include <stdlib.h>

enum { OUTER_ROWS = 8, INNER_ROWS = 24 };

struct expect {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct thread_choice threads;
	struct golden golden;
	struct matcher matcher;
	struct golden_section *section; /* of the thread under way, or NULL */
	uint32_t thread;		/* index, or UINT32_MAX: none yet */
	int is_done;			/* it was found to fit already */
	struct bytes out;
	struct bytes rows;   /* the open calls, for programs */
	struct sheet *sheet; /* its writer; NULL: text is wanted */
};

/* ---- words --------------------------------------------------------------- */

static void put_thread(struct expect *x, uint32_t index)
{
	const struct trace_thread *thread = &x->t->threads[index];

	put_words(&x->out, "thread ");
	if (thread->process > 1)
		put_words(&x->out, "%u:", thread->process);
	put_words(&x->out, "%u [", thread->ordinal);
	put_name(&x->out, thread->name);
	put_words(&x->out, "]");
}

static void put_count(struct expect *x, const struct golden_item *item)
{
	if (item->min == 1 && item->max == 1)
		return;
	if (item->max == item->min)
		put_words(&x->out, " x%u", item->min);
	else if (item->max == GOLDEN_MANY && item->min < 2)
		put_words(&x->out, " x%c", item->min ? '+' : '*');
	else if (item->max == GOLDEN_MANY)
		put_words(&x->out, " x%u..", item->min);
	else
		put_words(&x->out, " x%u..%u", item->min, item->max);
}

static void put_item(struct expect *x, uint32_t id)
{
	const struct golden_item *item = &x->golden.items[id];
	const struct golden_pattern *p;

	if (item->kind == ITEM_ANY) {
		put_words(&x->out, "...");
		return;
	}
	p = &x->golden.patterns[item->pattern];
	put_words(&x->out, p->regex ? "/" : "");
	put_name(&x->out, p->text);
	put_words(&x->out, p->regex ? "/" : "");
	put_count(x, item);
	if (p->site) {
		put_words(&x->out, "  ");
		put_name(&x->out, p->site);
	}
	if (item->end >= 0)
		put_words(&x->out, "  (%s)",
			  item->end == CALL_OPEN ? "open" : "unwound");
}

static void put_place(struct expect *x, uint32_t line)
{
	put_name(&x->out, x->golden.path);
	if (line)
		put_words(&x->out, ":%u", line);
	put_words(&x->out, ": ");
}

/* ---- the stack ----------------------------------------------------------- */

static void put_call_row(struct expect *x, char mark, const struct shown *call,
			 uint32_t depth)
{
	char id[CALLID_MAX];
	uint32_t indent = depth < 200 ? depth * 2 : 400;

	*callid_put(id, &x->t->threads[call->thread], call->number,
		    call->is_seed) = '\0';
	put_words(&x->out, "%c %-8s  %*s", mark, id, (int)indent, "");
	put_call(&x->out, x->t, call->site, call->from);
	if (call_end_sort(call->end) != CALL_RETURN)
		put_words(&x->out, "  (%s)",
			  call->end == CALL_OPEN ? "open" : "unwound");
	bytes_put_byte(&x->out, '\n');
}

/* ---- for programs -------------------------------------------------------- */

static const char *const columns[] = {"message",  "id",	  "depth", "function",
				      "name",	  "file", "line",  "end",
				      "is_wrong", NULL};

/* The message is the text's first line. */
static void put_message(struct expect *x)
{
	const char *text = (const char *)x->out.data;
	const char *end = x->out.len ? memchr(text, '\n', x->out.len) : NULL;
	auto_free char *line =
		strndup(text, end ? (size_t)(end - text) : x->out.len);

	sheet_text(x->sheet, line);
}

static void put_cells(struct expect *x, const struct shown *call, int is_wrong)
{
	static const char *const ends[] = {[CALL_RETURN] = "return",
					   [CALL_UNWOUND] = "unwound",
					   [CALL_ESTIMATED] = "estimated",
					   [CALL_OPEN] = "open"};
	const struct names *names = x->t->names;
	const struct call_site *site = &names->sites[call->site],
			       *from = &names->sites[call->from];
	char id[CALLID_MAX];

	*callid_put(id, &x->t->threads[call->thread], call->number,
		    call->is_seed) = '\0';
	put_message(x);
	sheet_text(x->sheet, id);
	sheet_number(x->sheet, call->depth);
	sheet_text(x->sheet, names->functions[site->function].name);
	sheet_text(x->sheet, names->functions[site->function].simple);
	sheet_text(x->sheet, from->file);
	if (from->line)
		sheet_number(x->sheet, from->line);
	else
		sheet_null(x->sheet);
	sheet_text(x->sheet, ends[call->end]);
	sheet_truth(x->sheet, is_wrong);
}

static void put_stack_cells(struct expect *x, const struct shown *call)
{
	const struct matcher *m = &x->matcher;

	for (uint32_t i = 1; i < m->n_frames; i++)
		put_cells(x, &m->frames[i].call, !call && i == m->n_frames - 1);
	if (call)
		put_cells(x, call, 1);
}

/* ---- the stack, as text ---------------------------------------------------
 */

/* The open calls, and the one that came, if it is one. */
static void put_stack(struct expect *x, const struct shown *call)
{
	const struct matcher *m = &x->matcher;
	uint32_t n = m->n_frames;

	if (x->sheet)
		put_stack_cells(x, call);
	for (uint32_t i = 1; i < n; i++) {
		if (n > OUTER_ROWS + INNER_ROWS + 2 && i == OUTER_ROWS + 1) {
			put_words(&x->out, "  ... %u more calls\n",
				  n - OUTER_ROWS - INNER_ROWS - 1);
			i = n - INNER_ROWS;
		}
		put_call_row(x, !call && i == n - 1 ? '>' : ' ',
			     &m->frames[i].call, m->frames[i].call.depth);
	}
	if (call)
		put_call_row(x, '>', call, call->depth);
}

/* ---- what is wrong ------------------------------------------------------- */

static uint32_t first_line(const struct expect *x, const struct mismatch *why)
{
	const struct golden_item *items = x->golden.items;

	if (why->kind == MISMATCH_NEVER)
		return x->golden.nevers[why->never].line;
	if (why->n_expected)
		return items[why->expected[0]].line;
	return why->below != MATCHER_ANY ? items[why->below].line : 0;
}

static void put_expected(struct expect *x, const struct mismatch *why)
{
	uint32_t n = why->n_expected;

	for (uint32_t i = 0; i < n && i < MISMATCH_ITEMS; i++) {
		const struct golden_item *item =
			&x->golden.items[why->expected[i]];

		put_words(&x->out, i ? ", or line %u: " : "expected ",
			  item->line);
		put_item(x, why->expected[i]);
	}
	if (n > MISMATCH_ITEMS)
		put_words(&x->out, ", or others");
	if (n)
		return;
	put_words(&x->out, "expected no %scall",
		  why->below == MATCHER_ANY ? "such " : "more ");
	if (why->below != MATCHER_ANY &&
	    x->golden.items[why->below].kind == ITEM_CALL) {
		put_words(&x->out, "s below ");
		put_item(x, why->below);
	}
}

static void put_function(struct expect *x, const struct shown *call)
{
	const struct names *names = x->t->names;
	char id[CALLID_MAX];

	*callid_put(id, &x->t->threads[call->thread], call->number,
		    call->is_seed) = '\0';
	put_words(&x->out, "%s ", id);
	put_name(&x->out,
		 names->functions[names->sites[call->site].function].name);
}

/* What was expected instead, without the line it is in. */
static void put_wish(struct expect *x, const struct mismatch *why)
{
	if (why->kind != MISMATCH_NEVER) {
		put_expected(x, why);
		return;
	}
	put_words(&x->out, "never expected ");
	put_name(&x->out,
		 x->golden.patterns[x->golden.nevers[why->never].pattern].text);
}

static void put_near_miss(struct expect *x)
{
	const struct near_miss *near = &x->matcher.near;

	if (!near->is_set)
		return;
	put_place(x, first_line(x, &near->why));
	put_words(&x->out, "note: ");
	put_wish(x, &near->why);
	put_words(&x->out, ", but ");
	put_function(x, &near->call);
	if (near->why.kind == MISMATCH_END) {
		put_words(&x->out, " calls nothing more");
	} else {
		put_words(&x->out, near->why.kind == MISMATCH_NEVER
					   ? " leads to "
					   : " calls ");
		put_function(x, &near->why.call);
	}
	put_words(&x->out, ": so it is not the one of line %u\n",
		  x->golden.items[near->item].line);
}

static void put_mismatch(struct expect *x)
{
	const struct mismatch *why = &x->matcher.mismatch;

	put_place(x, first_line(x, why));
	put_wish(x, why);
	if (why->kind == MISMATCH_END && x->matcher.n_frames > 1)
		put_words(&x->out, ", but this call makes no more:\n");
	else if (why->kind == MISMATCH_END)
		put_words(&x->out, ", but the thread makes no more calls\n");
	else
		put_words(&x->out, ", but this call is made:\n");
	put_stack(x, why->kind == MISMATCH_END ? NULL : &why->call);
	put_near_miss(x);
}

/* ---- threads ------------------------------------------------------------- */

/* Without a line that says which, it is about the first thread, or the one
 * that was chosen. */
static int is_about(const struct expect *x, const struct golden_section *s,
		    const struct trace_thread *thread)
{
	if (s->is_one)
		return 0;
	if (s->threads)
		return golden_glob(s->threads, thread->name);
	if (!s->line && !thread_choice_is_all(&x->threads))
		return thread_choice_has(&x->threads, thread) &&
		       (x->threads.process || x->threads.tid ||
			s->process == thread->process);
	return s->process == thread->process && s->thread == thread->ordinal;
}

static struct golden_section *find_section(struct expect *x, uint32_t index)
{
	const struct trace_thread *thread = &x->t->threads[index];

	for (uint32_t i = 0; i < x->golden.n_sections; i++) {
		struct golden_section *s = &x->golden.sections[i];

		if (is_about(x, s, thread))
			return s;
	}
	return NULL;
}

/* Does the thread fit below this line?  1 or 0. */
static int fits(struct expect *x, uint32_t thread,
		const struct golden_section *s, struct cst_error *err)
{
	struct cst_choice choice = *x->choice;
	struct shown *call;
	struct view *v;
	int got, status;

	choice.process = x->t->threads[thread].process;
	choice.thread = x->t->threads[thread].ordinal;
	status = view_new(x->t, &choice, 1, &v, err);
	if (status < 0)
		return status;
	status = matcher_begin(&x->matcher, s->root, err);
	while (status > 0 && (got = view_next(v, &call, err)) != 0) {
		if (got < 0)
			status = got;
		else if (x->t->lanes[call->lane].thread == thread)
			status = matcher_take(&x->matcher, call, err);
	}
	view_free(v);
	return status > 0 ? matcher_end(&x->matcher, err) : status;
}

/* The first "thread ?:" that is left and that the thread fits, or just the
 * first. */
static int find_one(struct expect *x, uint32_t thread, struct cst_error *err)
{
	x->section = NULL;
	for (uint32_t i = 0; i < x->golden.n_sections; i++) {
		struct golden_section *s = &x->golden.sections[i];
		int status;

		if (!s->is_one || s->is_seen)
			continue;
		status = fits(x, thread, s, err);
		if (status < 0)
			return status;
		if (status || !x->section)
			x->section = s;
		x->is_done = status;
		if (status)
			break;
	}
	return 0;
}

static int end_thread(struct expect *x, struct cst_error *err)
{
	int status;

	if (x->thread == UINT32_MAX || x->is_done)
		return 1;
	status = matcher_end(&x->matcher, err);
	if (status == 0)
		put_mismatch(x);
	return status;
}

static int begin_thread(struct expect *x, uint32_t thread,
			struct cst_error *err)
{
	int status = end_thread(x, err);

	if (status <= 0)
		return status;
	x->thread = thread;
	x->is_done = 0;
	x->section = find_section(x, thread);
	if (!x->section)
		status = find_one(x, thread, err);
	if (status < 0)
		return status;
	if (x->section) {
		x->section->is_seen = 1;
		return matcher_begin(&x->matcher, x->section->root, err);
	}
	put_place(x, 0);
	put_words(&x->out, "no line is about ");
	put_thread(x, thread);
	put_words(&x->out, ": `thread *:' and `...' below it would allow it\n");
	return 0;
}

static int is_any_thread(const struct golden_section *s)
{
	return s->threads && !strcmp(s->threads, "*");
}

/* A section's thread that never came. */
static int check_sections(struct expect *x, struct cst_error *err)
{
	for (uint32_t i = 0; i < x->golden.n_sections; i++) {
		struct golden_section *s = &x->golden.sections[i];
		int status;

		if (s->is_seen || is_any_thread(s))
			continue;
		status = matcher_begin(&x->matcher, s->root, err);
		if (status > 0 && !s->line)
			status = matcher_end(&x->matcher, err);
		else if (status > 0)
			status = 0;
		if (status < 0)
			return status;
		if (status > 0)
			continue;
		put_place(x, s->line);
		put_words(&x->out, "no thread in the trace is this one, or it "
				   "makes no call\n");
		return 0;
	}
	return 1;
}

/* ---- the whole ----------------------------------------------------------- */

static int take_call(struct expect *x, const struct shown *call,
		     struct cst_error *err)
{
	uint32_t thread = x->t->lanes[call->lane].thread;
	int status = 1;

	if (thread != x->thread)
		status = begin_thread(x, thread, err);
	if (status <= 0 || x->is_done)
		return status;
	status = matcher_take(&x->matcher, call, err);
	if (status == 0)
		put_mismatch(x);
	return status;
}

/* 1: it fits. */
static int expect_run(struct expect *x, struct view *v, struct cst_error *err)
{
	struct shown *call;
	int got, status = 1;

	while (status > 0 && (got = view_next(v, &call, err)) != 0)
		status = got < 0 ? got : take_call(x, call, err);
	if (status > 0)
		status = end_thread(x, err);
	return status > 0 ? check_sections(x, err) : status;
}

/* No call is to blame: a thread is. */
static void put_no_cells(struct expect *x)
{
	put_message(x);
	for (uint32_t i = 1; columns[i]; i++)
		sheet_null(x->sheet);
}

static void put_document(struct expect *x, struct sheet *sheet, int is_match)
{
	if (!is_match && !sheet->has_row)
		put_no_cells(x);
	sheet_table_end(sheet);
	sheet_member_text(sheet, "golden", x->golden.path);
	sheet_member_truth(sheet, "matches", is_match);
	sheet_end(sheet);
}

/* What the choice hides, the golden tree's own as well. */
static void put_note(struct expect *x)
{
	char text[1024];

	if (cst_choice_text(x->choice, text, sizeof(text)))
		put_words(&x->out, "# with %s\n", text);
}

static int put_answer(struct expect *x, int is_match, cst_write_fn write,
		      void *arg, struct cst_error *err)
{
	struct bytes *out = x->sheet ? &x->rows : &x->out;

	if (x->sheet)
		put_document(x, x->sheet, is_match);
	else if (!is_match)
		put_note(x);
	if (x->out.failed || out->failed)
		return cst_fail_memory(err);
	if (out->len && write(arg, (const char *)out->data, out->len) < 0)
		return cst_fail(CST_INTERRUPTED, err, "interrupted");
	return is_match;
}

int64_t cst_trace_expect(struct cst_trace *t, const char *path, uint32_t output,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	struct cst_choice all = *choice;
	struct expect x = {.t = t, .choice = &all, .thread = UINT32_MAX};
	struct view *v = NULL;
	struct sheet sheet;
	int64_t status = golden_read(&x.golden, path, err);

	outfile_begin();
	golden_options_apply(&x.golden.options, &all);
	if (output) {
		x.sheet = &sheet;
		sheet_begin(&sheet, (enum cst_output)output, &x.rows);
		sheet_table(&sheet, "rows", columns);
	}
	if (status == 0)
		status = thread_choice_init(&x.threads, t, &all, err);
	if (status == 0)
		status = matcher_init(&x.matcher, t, &x.golden, err);
	if (status == 0)
		status = view_new(t, &all, 1, &v, err);
	if (status == 0)
		status = expect_run(&x, v, err);
	if (status >= 0)
		status = put_answer(&x, status > 0, write, arg, err);
	view_free(v);
	bytes_release(&x.out);
	bytes_release(&x.rows);
	matcher_release(&x.matcher);
	golden_release(&x.golden);
	return status < 0 ? status : !status;
}
