/* SPDX-License-Identifier: MIT
 *
 * Reads lists of a report's fields, and writes their headings and values.
 */
#include "report/fields.h"
#include "base/number.h"
#include "base/share.h"
#include "report/report_rows.h"

#include <stdio.h>
#include <string.h>

enum { N_NAMES = 4, WORD_MAX = 40 };

static const struct {
	const char *names[N_NAMES]; /* the first is ours */
	const char *title, *cell;
} fields[] = {
	[FIELD_CALLS] = {{"calls", "call"}, "CALLS", "calls"},
	[FIELD_TOTAL] = {{"total"}, "TOTAL", "total_ns"},
	[FIELD_SELF] = {{"self"}, "SELF", "self_ns"},
	[FIELD_MEAN] = {{"mean", "avg", "average", "total-avg"},
			"MEAN",
			"mean_ns"},
	[FIELD_MIN] = {{"min", "total-min"}, "MIN", "min_ns"},
	[FIELD_MAX] = {{"max", "total-max"}, "MAX", "max_ns"},
	[FIELD_SHARE] = {{"share"}, "SHARE", "share_percent"},
	[FIELD_SIZE] = {{"size"}, "SIZE", "size_bytes"},
	[FIELD_ERROR] = {{"error"}, "+-", "error_percent"},
	[FIELD_SAMPLES] = {{"samples"}, "SAMPLES", "samples"},
	[FIELD_NAME] = {{"function", "func", "name"}, "FUNCTION", ""},
};

const char *field_cell(enum field field)
{
	return fields[field].cell;
}

/* The field of that name, or of the only one of our names that begins so; or
 * N_FIELDS. */
static enum field field_find(const char *word, size_t n, int n_known)
{
	int found = N_FIELDS, n_found = 0;

	for (int i = 0; i < n_known; i++)
		for (int k = 0; k < N_NAMES && fields[i].names[k]; k++)
			if (strlen(fields[i].names[k]) == n &&
			    !memcmp(fields[i].names[k], word, n))
				return (enum field)i;
	for (int i = 0; n && i < n_known; i++)
		if (!strncmp(fields[i].names[0], word, n)) {
			found = i;
			n_found++;
		}
	return n_found == 1 ? (enum field)found : N_FIELDS;
}

static int tell_unknown(const char *word, size_t n, int is_for_sort,
			struct cst_error *err)
{
	return cst_fail(CST_BAD_INPUT, err,
			"no field '%.*s': there are calls, total, self, mean, "
			"min, max, share%s",
			(int)(n < WORD_MAX ? n : WORD_MAX), word,
			is_for_sort ? ", size and function" : " and size");
}

int fields_have(const struct fields *f, enum field field)
{
	return memchr(f->all, field, f->n) != NULL;
}

int fields_parse(struct fields *f, const char *text, int is_for_sort,
		 struct cst_error *err)
{
	int n_known = is_for_sort ? N_FIELDS : FIELD_NAME;

	*f = (struct fields){0};
	for (;;) {
		size_t n = strcspn(text, ",");
		enum field field = field_find(text, n, n_known);

		if (field == N_FIELDS)
			return tell_unknown(text, n, is_for_sort, err);
		if (!fields_have(f, field))
			f->all[f->n++] = (uint8_t)field;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

void fields_default(struct fields *f)
{
	*f = (struct fields){.n = FIELD_SIZE};
	for (int i = 0; i < FIELD_SIZE; i++)
		f->all[i] = (uint8_t)i;
}

void fields_default_sampled(struct fields *f)
{
	static const uint8_t shown[] = {FIELD_SELF, FIELD_TOTAL, FIELD_SHARE,
					FIELD_ERROR, FIELD_SAMPLES};

	*f = (struct fields){.n = sizeof(shown)};
	memcpy(f->all, shown, sizeof(shown));
}

uint64_t field_value(enum field field, const struct total *t)
{
	switch (field) {
	case FIELD_CALLS:
		return t->n_calls;
	case FIELD_TOTAL:
		return t->total_ns;
	case FIELD_SELF:
	case FIELD_SHARE:
		return total_self(t);
	case FIELD_MEAN:
		return t->total_ns / t->n_calls;
	case FIELD_MIN:
		return t->min_ns;
	case FIELD_MAX:
		return t->max_ns;
	case FIELD_SIZE:
		return t->size_bytes;
	case FIELD_ERROR:
		return t->error_ppm;
	case FIELD_SAMPLES:
		return t->n_samples;
	default:
		return 0;
	}
}

int field_is_stopped(enum field field, const struct total *t)
{
	switch (field) {
	case FIELD_TOTAL:
	case FIELD_MEAN:
		return t->n_stopped > 0;
	case FIELD_SELF:
		return t->own_stops > 0;
	case FIELD_MIN:
		return t->is_min_stopped;
	case FIELD_MAX:
		return t->is_max_stopped;
	default:
		return 0;
	}
}

static int is_percent(enum field field)
{
	return field == FIELD_SHARE || field == FIELD_ERROR;
}

void fields_put_heading(const struct fields *f, struct bytes *out)
{
	size_t begin = out->len;
	char text[32];

	for (uint32_t i = 0; i < f->n; i++) {
		enum field field = (enum field)f->all[i];
		int width = is_percent(field) ? 7 : i ? 12 : 10;

		snprintf(text, sizeof(text), "%*s", width, fields[field].title);
		bytes_put(out, text, strlen(text));
	}
	if (!out->failed)
		out->data[begin] = '#';
}

static char *size_put(char *p, uint32_t bytes)
{
	if (bytes)
		return number_put_wide(p, bytes, 10);
	memcpy(p, "         -", 10);
	return p + 10;
}

char *fields_put(const struct fields *f, const struct total *t, uint64_t whole,
		 char *p, uint8_t *is_marked)
{
	char mark = ' ';

	for (uint32_t i = 0; i < f->n; i++) {
		enum field field = (enum field)f->all[i];
		char *begin = p;

		if (field == FIELD_SHARE)
			p = share_put(p, total_self(t), whole);
		else if (field == FIELD_ERROR)
			p = share_put(p, t->error_ppm, 1000000);
		else if (field == FIELD_CALLS || field == FIELD_SAMPLES)
			p = number_put_wide(i ? p + 2 : p,
					    field_value(field, t), 10);
		else if (field == FIELD_SIZE)
			p = size_put(i ? p + 2 : p, t->size_bytes);
		else
			p = number_put_duration(i ? p + 2 : p,
						field_value(field, t));
		/* " 100.0%" leaves no blank behind a mark. */
		if (field == FIELD_SHARE && mark == '*' && begin[1] != ' ')
			memcpy(begin, "   100%", 7);
		if (i)
			begin[0] = mark;
		if (i && !is_percent(field))
			begin[1] = ' ';
		mark = field_is_stopped(field, t) ? '*' : ' ';
		*is_marked |= mark == '*';
	}
	p[0] = mark;
	p[1] = ' ';
	return p + 2;
}
