/* SPDX-License-Identifier: MIT
 *
 * Writes the first difference of two lanes as text, in the manner of a unified
 * diff.
 */
#include "diff/divergence_text.h"
#include "rows/row.h"
#include "trace/callid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum {
	OUTER_ROWS = 8,	 /* of a deep stack: the outermost ... */
	INNER_ROWS = 24, /* ... and the innermost */
	CONTEXT = 2,	 /* equal calls shown behind the last that differs */
};

void put_words(struct bytes *out, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		bytes_put(out, text,
			  n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void put_name(struct bytes *out, const char *name)
{
	char *begin = (char *)bytes_reserve(out, ROW_MAX);

	if (begin)
		out->len += (size_t)(row_put_text(begin, name, 4000) - begin);
}

void put_matched(struct bytes *out, const struct matched_functions *j,
		 uint32_t function)
{
	const struct matched_functions_item *i = &j->function_items[function];
	const struct names *names = j->traces[i->trace]->names;
	char *begin = (char *)bytes_reserve(out, ROW_MAX);

	if (begin)
		out->len += (size_t)(row_put_function(begin, names, i->index,
						      CST_NAMES_SIMPLE, 4000) -
				     begin);
}

void put_call(struct bytes *out, const struct cst_trace *t, uint32_t site,
	      uint32_t from)
{
	const struct row row = {.kind = ROW_CALL,
				.names = t->names,
				.site = site,
				.from = from};
	const struct cst_look look = {.callsite = 1};
	char *begin = (char *)bytes_reserve(out, ROW_MAX);

	/* Without its newline. */
	if (begin)
		out->len +=
			(size_t)(row_put_suffix(&row, &look, begin) - begin) -
			1;
}

/* ---- rows --------------------------------------------------------------- */

struct rows {
	const struct divergence *p;
	const struct matched_functions *j;
	struct bytes *out;
	int width; /* of an ID */
};

static int put_id(const struct cst_trace *t, const struct shown *call,
		  char text[CALLID_MAX])
{
	char *end = callid_put(text, &t->threads[call->thread], call->number,
			       call->is_seed);

	*end = '\0';
	return (int)(end - text);
}

static void widen(struct rows *r, int t, const struct shown *call)
{
	char text[CALLID_MAX];
	int n = put_id(r->j->traces[t], call, text);

	if (n > r->width)
		r->width = n;
}

static void rows_init(struct rows *r)
{
	const struct divergence *p = r->p;

	r->width = 5;
	for (int t = 0; t < 2; t++) {
		for (uint32_t i = 0; i <= p->depth && i < p->cap_stack; i++)
			widen(r, t, &p->stack[t][i]);
		widen(r, t, &p->after[t]);
		for (uint32_t i = 0; i < p->n_children[t]; i++)
			widen(r, t, &p->children[t][i].call);
	}
}

/* Either call may be NULL; if both are there, b's place is written. */
static void put_row(struct rows *r, char mark, const struct shown *a,
		    const struct shown *b, uint32_t depth)
{
	char id[2][CALLID_MAX] = {"", ""};
	uint32_t indent = row_tree_blanks(depth);

	if (a)
		put_id(r->j->traces[0], a, id[0]);
	if (b)
		put_id(r->j->traces[1], b, id[1]);
	put_words(r->out, "%c %-*s  %-*s  %*s", mark, r->width, id[0], r->width,
		  id[1], (int)(indent < 400 ? indent : 400), "");
	put_call(r->out, r->j->traces[b ? 1 : 0], b ? b->site : a->site,
		 b ? b->from : a->from);
}

static void put_stack(struct rows *r)
{
	const struct divergence *p = r->p;

	for (uint32_t i = 0; i <= p->depth && i < p->cap_stack; i++) {
		if (p->depth > OUTER_ROWS + INNER_ROWS + 1 && i == OUTER_ROWS) {
			uint32_t n = p->depth - OUTER_ROWS - INNER_ROWS;

			put_words(r->out, "  ... %" PRIu32 " more calls\n", n);
			i += n;
		}
		if (!p->stack[0][i].number)
			continue; /* no equal call before it */
		put_row(r, ' ', &p->stack[0][i], &p->stack[1][i], i);
		bytes_put_byte(r->out, '\n');
	}
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_below(struct rows *r, const struct divergence_child *c)
{
	if (c->n_calls > 1)
		put_words(r->out, "  (and %" PRIu64 " call%s below it)",
			  c->n_calls - 1, plural(c->n_calls - 1));
}

/* Both are the same; 1: below as well. */
static int put_both(struct rows *r, const struct divergence_child *a,
		    const struct divergence_child *b)
{
	int is_same = a->hash == b->hash && a->n_calls == b->n_calls;

	put_row(r, is_same ? ' ' : '~', &a->call, &b->call, r->p->depth);
	if (!is_same)
		put_words(r->out,
			  "  (calls below it differ: %" PRIu64 ", %" PRIu64 ")",
			  a->n_calls - 1, b->n_calls - 1);
	else
		put_below(r, a);
	return is_same;
}

/* Returns 1 when the step tells of no difference. */
static int put_step(struct rows *r, const struct divergence_step *s)
{
	const struct divergence_child *a = &r->p->children[0][s->a - 1];
	const struct divergence_child *b = &r->p->children[1][s->b - 1];
	int is_same = 0;

	if (s->a && s->b) {
		is_same = put_both(r, a, b);
	} else {
		put_row(r, s->a ? '-' : '+', s->a ? &a->call : NULL,
			s->b ? &b->call : NULL, r->p->depth);
		put_below(r, s->a ? a : b);
	}
	bytes_put_byte(r->out, '\n');
	return is_same;
}

/* How it goes on further out. */
static void put_after(struct rows *r)
{
	const struct divergence *p = r->p;
	const struct shown *a = &p->after[0], *b = &p->after[1];

	if (p->is_same_after) {
		put_row(r, ' ', a, b, a->depth);
		bytes_put_byte(r->out, '\n');
		return;
	}
	if (a->number && !p->is_cut[1]) {
		put_row(r, '-', a, NULL, a->depth);
		bytes_put_byte(r->out, '\n');
	}
	if (b->number && !p->is_cut[0]) {
		put_row(r, '+', NULL, b, b->depth);
		bytes_put_byte(r->out, '\n');
	}
}

/* A long run of equal calls is written as both its ends. */
static void put_steps(struct rows *r, uint32_t limit)
{
	const struct divergence *p = r->p;
	uint32_t n_same = 0, n_rows = 0, i = 0;

	while (i < p->n_steps && (!limit || n_rows < limit)) {
		const struct divergence_step *s = &p->steps[i];
		uint64_t before = r->out->len;

		n_same = put_step(r, s) ? n_same + 1 : 0;
		if (n_same > CONTEXT)
			r->out->len = before;
		else
			n_rows++;
		if (n_same == CONTEXT + 1)
			bytes_put(r->out, "  ...\n", 6);
		i++;
	}
	if (i == p->n_steps)
		put_after(r);
	else
		put_words(r->out, "  ... and %" PRIu32 " more row%s\n",
			  p->n_steps - i, plural(p->n_steps - i));
	if (p->is_cut[0] || p->is_cut[1])
		put_words(r->out,
			  "  ... only %d calls of each are compared here\n",
			  PARTING_CHILDREN);
}

/* ---- whole partings ----------------------------------------------------- */

static const char *how_ended(uint8_t end)
{
	return end == CALL_UNWOUND ? "unwound"
	       : end == CALL_OPEN  ? "still open"
				   : "returned";
}

static void put_end(struct rows *r)
{
	const struct shown *a = &r->p->children[0][0].call;
	const struct shown *b = &r->p->children[1][0].call;

	put_row(r, '-', a, NULL, r->p->depth);
	put_words(r->out, "  (%s)\n", how_ended(a->end));
	put_row(r, '+', NULL, b, r->p->depth);
	put_words(r->out, "  (%s)\n", how_ended(b->end));
}

void divergence_put(const struct divergence *p,
		    const struct matched_functions *j, uint32_t limit,
		    struct bytes *out)
{
	struct rows r = {.p = p, .j = j, .out = out};

	rows_init(&r);
	put_words(out, "# %-*s  %-*s  CALL  (FROM)\n", r.width, "A", r.width,
		  "B");
	put_stack(&r);
	if (p->kind == PARTING_END)
		put_end(&r);
	else
		put_steps(&r, limit);
}

void divergence_put_short(const struct divergence *p,
			  const struct matched_functions *j, struct bytes *out)
{
	for (int t = 0; t < 2; t++) {
		const struct cst_trace *trace = j->traces[t];
		const struct shown *next = &p->next[t];
		char id[CALLID_MAX];

		if (next->number) {
			uint32_t own = trace->names->sites[next->site].function;

			put_id(trace, next, id);
			put_words(out, "%s ", id);
			put_matched(out, j, j->functions[t][own]);
		} else {
			put_words(out, "the end");
		}
		put_words(out, t ? " in B\n" : " in A, ");
	}
}
