/* SPDX-License-Identifier: MIT
 *
 * A logpoint's text is a row of its own, the first one in the call, at the time
 * of the call's entry.
 */
#include "calls/log_points.h"

#include "names/values_text.h"

#include <inttypes.h>
#include <stdlib.h>

/* One call at which there are logpoints. */
struct hit {
	struct callstack *calls;
	struct thread *thread;
	const struct frame *frame;
};

/* The function that was called; names that are added move it. */
static const struct function *function_of(const struct hit *h)
{
	const struct names *names = h->calls->sites->names;

	return &names->functions[h->frame->site->function];
}

static void put_word(struct bytes *out, const char *word)
{
	bytes_put(out, word, strlen(word));
}

/* ---- values ----------------------------------------------------------------
 */

static int is_integer(const struct value *v)
{
	return v->kind == CST_VALUE_INT || v->kind == CST_VALUE_UINT ||
	       v->kind == CST_VALUE_CHAR || v->kind == CST_VALUE_BOOL;
}

/* An integer in one of print's formats, which look at its bytes alone. */
static void put_integer(struct bytes *out, const struct point_part *part,
			const struct value *v)
{
	unsigned unused = part->size < 8 ? 64 - 8u * part->size : 0;
	uint64_t number = v->u << unused >> unused;

	switch (part->format) {
	case 'x':
		bytes_put_format(out, "0x%" PRIx64, number);
		break;
	case 'o':
		bytes_put_format(out, "%s%" PRIo64, number ? "0" : "", number);
		break;
	case 'u':
		bytes_put_format(out, "%" PRIu64, number);
		break;
	default:
		bytes_put_format(out, "%" PRId64,
				 (int64_t)(v->u << unused) >> unused);
	}
}

static void put_value(struct bytes *out, const struct hit *h,
		      const struct point_part *part)
{
	const struct values *of = h->frame->values;
	struct value_list l = value_list(of ? of->data : NULL, of ? of->n : 0,
					 function_of(h)->values);
	char text[VALUES_ROOM], *from = text, *end;
	struct value v;

	if (!value_find(l, part->names, part->n_names, &v)) {
		put_word(out, "<not recorded>");
		return;
	}
	if (part->format && part->format != 's' && is_integer(&v)) {
		put_integer(out, part, &v);
		return;
	}
	end = value_put(text, &v);
	if (part->format == 's' && *text == '"') {
		from++;
		end = memrchr(text, '"', (size_t)(end - text));
	}
	bytes_put(out, from, (size_t)(end - from));
	if (from != text && v.kind == CST_VALUE_CUT_TEXT)
		put_word(out, "...");
}

/* ---- what cstrace knows itself ---------------------------------------------
 */

/* The caller is the call around it and its spans, unless that one's code called
 * something without hooks that made this call. */
static void put_caller(struct bytes *out, const struct hit *h)
{
	const struct stack *s = h->thread->current;
	const struct names *names = h->calls->sites->names;
	const struct site *site = h->frame->site;
	uint32_t function = UINT32_MAX, at = s->n > 1 ? s->n - 1 : 0;

	while (at > 1 &&
	       names->functions[s->calls[at - 1].function].kind == KIND_SPAN)
		at--;
	if (at && s->calls[at - 1].physical == site->caller_physical)
		function = s->calls[at - 1].function;
	else
		function = sites_function_with(
			h->calls->sites, h->thread->process,
			h->calls->sites->places[h->frame->number].caller - 1);
	put_word(out, function == UINT32_MAX
			      ? "?"
			      : names->functions[function].simple);
}

static void put_part(struct bytes *out, const struct hit *h,
		     const struct point_part *part)
{
	const struct thread *t = h->thread;

	switch (part->field) {
	case CST_POINT_VALUE:
		put_value(out, h, part);
		break;
	case CST_POINT_CALLER:
		put_caller(out, h);
		break;
	case CST_POINT_DEPTH:
		bytes_put_format(out, "%u", t->current->n);
		break;
	case CST_POINT_THREAD:
		if (t->process)
			bytes_put_format(out, "p%u:", t->process + 1);
		bytes_put_format(out, "t%u", t->ordinal);
		break;
	default:
		put_word(out, part->text);
	}
}

/* ---- a hit -----------------------------------------------------------------
 */

static int is_wanted(const struct hit *h, const struct point *p)
{
	const struct values *v = h->frame->values;

	return !p->condition ||
	       where_holds(p->condition, function_of(h), v ? v->data : NULL,
			   v ? v->n : 0, 0);
}

static void write_text(const struct hit *h, const struct point *p,
		       uint32_t call_site)
{
	struct thread *t = h->thread;
	struct bytes text = {0};
	struct values *v = NULL;

	for (uint32_t i = 0; i < p->n_parts; i++)
		put_part(&text, h, &p->parts[i]);
	bytes_put_byte(&text, 0);
	if (!text.failed)
		v = values_of_text((const char *)text.data);
	if (v)
		stack_note(h->calls, t, t->current, 0, call_site,
			   h->frame->time, v);
	values_drop(v);
	bytes_release(&text);
}

void log_points_hit(struct callstack *c, struct thread *t,
		    const struct frame *f)
{
	const struct points *all = &c->sites->points;
	const struct hit h = {c, t, f};

	for (uint32_t i = 0; i < all->n; i++) {
		struct point *p = &all->all[i];
		uint32_t call_site = point_call_site(p, f->site->function);
		uint64_t begin = clock_ticks();

		if (call_site == UINT32_MAX)
			continue;
		p->n_passes++;
		if (is_wanted(&h, p)) {
			p->n_hits++;
			write_text(&h, p, call_site);
		}
		p->cost_ticks += clock_ticks() - begin;
	}
}
