/* SPDX-License-Identifier: MIT
 *
 * Writes values as rows have them.  A message's format is the program's: each
 * conversion is checked, and written anew for the value that is there.
 */
#include "names/values_text.h"

#include "base/utf8.h"
#include "cstrace/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Text that is cut where its room ends, with "..." there. */
struct line {
	char *p, *end;
};

static void put(struct line *l, const char *text, size_t n)
{
	size_t room = (size_t)(l->end - l->p);

	if (n > room)
		n = room;
	/* cppcheck-suppress uninitvar */
	memcpy(l->p, text, n);
	l->p += n;
}

static void put_word(struct line *l, const char *text)
{
	put(l, text, strlen(text));
}

/* Puts text of which one half is room enough: it is escaped and cut. */
static void put_escaped(struct line *l, const char *text, size_t n)
{
	char copy[CST_VALUES_MAX + 1], escaped[4 * sizeof(copy) + 16];

	if (n >= sizeof(copy))
		n = sizeof(copy) - 1;
	memcpy(copy, text, n);
	copy[n] = 0;
	put(l, escaped,
	    (size_t)(utf8_put(escaped, copy, sizeof(escaped)) - escaped));
}

/* "text" with what would end the text, or is not to be seen, escaped.  A NUL in
 * it ends no text of the program's, but may be in a record of somebody's. */
static void put_quoted(struct line *l, char quote, const char *text, size_t n)
{
	put(l, &quote, 1);
	for (size_t i = 0, plain; i < n; i += plain + 1) {
		for (plain = 0; i + plain < n; plain++) {
			char c = text[i + plain];

			if (c == quote || c == '\\' || c == '\n' || c == '\t' ||
			    c == '\r' || !c)
				break;
		}
		put_escaped(l, text + i, plain);
		if (i + plain < n) {
			char c = text[i + plain];
			char escape[] = {'\\', c == '\n'   ? 'n'
					       : c == '\t' ? 't'
					       : c == '\r' ? 'r'
					       : !c	   ? '0'
							   : c};

			put(l, escape, 2);
		}
	}
	put(l, &quote, 1);
}

/* The debugger's locale may have a comma there. */
static void put_point(char *number)
{
	char *comma = strchr(number, ',');

	if (comma)
		*comma = '.';
}

/* The fewest digits that are that number. */
static int float_text(double f, char *out, size_t size)
{
	int digits = 6;

	do {
		snprintf(out, size, "%.*g", digits, f);
		digits = digits < 15 ? 15 : digits + 1;
	} while (digits <= 17 && !isnan(f) && strtod(out, NULL) != f);
	put_point(out);
	return (int)strlen(out);
}

int value_put_number(const struct value *v, char *out)
{
	const size_t size = VALUE_NUMBER_ROOM;

	switch (v->kind) {
	case CST_VALUE_INT:
		return snprintf(out, size, "%" PRId64, v->i);
	case CST_VALUE_UINT:
		return snprintf(out, size, "%" PRIu64, v->u);
	case CST_VALUE_HEX:
	case CST_VALUE_POINTER:
		return snprintf(out, size, "0x%" PRIx64, v->u);
	case CST_VALUE_FLOAT:
		return float_text(v->f, out, size);
	case CST_VALUE_BOOL:
		return snprintf(out, size, "%s", v->u ? "true" : "false");
	case CST_VALUE_NULL:
		return snprintf(out, size, "NULL");
	case CST_VALUE_GONE:
		return snprintf(out, size, "<optimized out>");
	default:
		return snprintf(out, size, "<cannot read>");
	}
}

static void put_inside(struct line *l, const struct value *v);

static void put_value(struct line *l, const struct value *v)
{
	char text[VALUE_NUMBER_ROOM] = {(char)v->u};

	switch (v->kind) {
	case CST_VALUE_TEXT:
		put_quoted(l, '"', v->text, v->size);
		break;
	case CST_VALUE_CUT_TEXT:
		put_quoted(l, '"', v->text, v->size);
		put_word(l, "...");
		break;
	case CST_VALUE_NAME:
		put_escaped(l, v->text, v->size);
		break;
	case CST_VALUE_CHAR:
		put_quoted(l, '\'', text, 1);
		break;
	case CST_VALUE_STRUCT:
	case CST_VALUE_ARRAY:
		put_inside(l, v);
		break;
	default:
		put(l, text, (size_t)value_put_number(v, text));
	}
}

/* Puts the rest of a list, with commas between, and returns how many these
 * are. */
static uint64_t put_all(struct line *l, struct value_list *list,
			const char *before)
{
	struct value v;
	uint64_t n = 0;

	while (value_next(list, &v)) {
		put_word(l, n++ ? ", " : before);
		if (v.name_size) {
			put_escaped(l, v.name, v.name_size);
			put_word(l, "=");
		}
		put_value(l, &v);
	}
	return n;
}

/* {x=1, y=2} for a struct, and [5]{1, 2, 3, ...} for an array. */
static void put_inside(struct line *l, const struct value *v)
{
	struct value_list inside = v->inside;
	uint64_t n;

	if (v->kind == CST_VALUE_ARRAY) {
		char size[VALUE_NUMBER_ROOM];

		put(l, size,
		    (size_t)snprintf(size, sizeof(size), "[%" PRIu64 "]",
				     v->u));
	}
	put_word(l, "{");
	n = put_all(l, &inside, "");
	if (v->kind == CST_VALUE_ARRAY && n < v->u)
		put_word(l, n ? ", ..." : "...");
	put_word(l, "}");
}

/* Puts the rest of a list in brackets; nothing where there is no more. */
static void put_list(struct line *l, struct value_list *list)
{
	if (put_all(l, list, "("))
		put_word(l, ")");
}

static void put_result(struct line *l, const struct function *f,
		       const struct values *v)
{
	struct value value;

	if (!values_result(v, f->values, &value))
		return;
	put_word(l, " = ");
	put_value(l, &value);
}

char *value_put(char *out, const struct value *v)
{
	struct line l = {out, out + VALUES_ROOM - 4};

	put_value(&l, v);
	return l.p;
}

/* The number that tells an asynchronous span from others. */
static void put_async(struct line *l, struct value_list *list)
{
	struct value id;

	if (!value_next(list, &id))
		return;
	put_word(l, " #");
	put_value(l, &id);
	put_list(l, list);
}

char *values_put_row(char *out, const struct function *f,
		     const struct values *v, int is_close)
{
	struct line l = {out, out + VALUES_ROOM - 4};
	struct value_list list =
		value_list(v ? v->data : NULL, v ? v->n : 0, f->values);
	char message[VALUES_ROOM];
	struct value value;

	switch (f->kind) {
	case KIND_MESSAGE:
	case KIND_POINT:
		values_message(f, v, message, sizeof(message));
		put_word(&l, names_said(f));
		put_word(&l, ": ");
		l.p = utf8_put(l.p, message, (unsigned)(l.end - l.p));
		break;
	case KIND_COUNT:
		if (value_next(&list, &value)) {
			put_word(&l, " = ");
			put_value(&l, &value);
		}
		break;
	case KIND_ASYNC:
	case KIND_ASYNC_END:
		put_async(&l, &list);
		break;
	default:
		if (!is_close)
			put_list(&l, &list);
		if (v)
			put_result(&l, f, v);
	}
	if (l.p == l.end) {
		memcpy(l.p, "...", 3);
		return l.p + 3;
	}
	return l.p;
}

/* ---- messages -------------------------------------------------------------
 */

enum { FIELD_MAX = 200 }; /* the widest field, and the most digits */

/* A conversion of the format; -1: not given. */
struct conversion {
	char flags[8];
	int width, precision;
	char letter; /* 0: there is none */
};

/* A number in the format, or a value for "*". */
static int take_field(const char **p, struct value_list *values)
{
	struct value v;
	int64_t n = 0;

	if (**p == '*') {
		++*p;
		if (value_next(values, &v) &&
		    (v.kind == CST_VALUE_INT || v.kind == CST_VALUE_UINT))
			n = v.i;
		return n < -FIELD_MAX  ? -FIELD_MAX
		       : n > FIELD_MAX ? FIELD_MAX
				       : (int)n;
	}
	for (; **p >= '0' && **p <= '9'; ++*p)
		if (n <= FIELD_MAX)
			n = n * 10 + **p - '0';
	return n > FIELD_MAX ? FIELD_MAX : (int)n;
}

/* Reads the conversion behind a '%' and returns the place behind it. */
static const char *take_conversion(const char *p, struct value_list *values,
				   struct conversion *out)
{
	size_t n = 0;

	*out = (struct conversion){.width = -1, .precision = -1};
	for (; *p && strchr("-+ #0'", *p); p++)
		if (n < sizeof(out->flags) - 2 && *p != '\'')
			out->flags[n++] = *p;
	if (*p == '*' || (*p >= '1' && *p <= '9')) {
		out->width = take_field(&p, values);
		if (out->width < 0) {
			out->flags[n] = '-';
			out->width = -out->width;
		}
	}
	if (*p == '.') {
		p++;
		out->precision = take_field(&p, values);
	}
	while (*p && strchr("hlLqjzt", *p))
		p++;
	out->letter = *p;
	return *p ? p + 1 : p;
}

static void put_text_field(struct line *l, const struct conversion *c,
			   const struct value *v)
{
	size_t size = c->precision >= 0 && (uint32_t)c->precision < v->size
			      ? (size_t)c->precision
			      : v->size;
	size_t blanks = c->width > 0 && (size_t)c->width > size
				? (size_t)c->width - size
				: 0;
	int is_left = strchr(c->flags, '-') != NULL;

	for (size_t i = 0; i < blanks && !is_left; i++)
		put(l, " ", 1);
	put(l, v->text, size);
	if (v->kind == CST_VALUE_CUT_TEXT)
		put_word(l, "...");
	for (size_t i = 0; i < blanks && is_left; i++)
		put(l, " ", 1);
}

/* Writes the number as the conversion has it; 0: it is not for such a value. */
static int put_number_field(struct line *l, const struct conversion *c,
			    const struct value *v)
{
	char format[40], text[2 * FIELD_MAX + 400];
	int is_number = v->kind == CST_VALUE_INT || v->kind == CST_VALUE_UINT ||
			v->kind == CST_VALUE_HEX ||
			v->kind == CST_VALUE_POINTER ||
			v->kind == CST_VALUE_CHAR || v->kind == CST_VALUE_BOOL;
	int is_float = v->kind == CST_VALUE_FLOAT, n = 0;
	char *p = format + sprintf(format, "%%%s", c->flags);

	if (c->width >= 0)
		p += sprintf(p, "%d", c->width);
	if (c->precision >= 0)
		p += sprintf(p, ".%d", c->precision);
	if (is_number && strchr("di", c->letter)) {
		strcpy(p, PRId64);
		n = snprintf(text, sizeof(text), format, v->i);
	} else if (is_number && strchr("uoxX", c->letter)) {
		sprintf(p, "l%c", c->letter);
		n = snprintf(text, sizeof(text), format, (unsigned long)v->u);
	} else if (is_float && strchr("aAeEfFgG", c->letter)) {
		sprintf(p, "%c", c->letter);
		n = snprintf(text, sizeof(text), format, v->f);
		put_point(text);
	} else {
		return 0;
	}
	put(l, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return 1;
}

static void put_field(struct line *l, const struct conversion *c,
		      const struct value *v)
{
	char text[VALUE_NUMBER_ROOM];
	struct value word = {.text = text};

	if (value_is_text(v)) {
		put_text_field(l, c, v);
		return;
	}
	if (c->letter != 'c' && c->letter != 'p' && put_number_field(l, c, v))
		return;
	if (c->letter == 'c' && v->u < 0x80) {
		text[0] =
			(char)(v->kind == CST_VALUE_INT ? v->i : (int64_t)v->u);
		word.size = 1;
	} else {
		word.size = (uint32_t)value_put_number(v, text);
	}
	put_text_field(l, c, &word);
}

void values_message(const struct function *f, const struct values *v, char *out,
		    size_t size)
{
	struct value_list values =
		value_list(v ? v->data : NULL, v ? v->n : 0, f->values);
	struct line l = {out, out + size - 1};
	const char *p = names_bare(f);
	struct conversion c;
	struct value value;

	if (f->kind == KIND_POINT && value_next(&values, &value) &&
	    value.text) {
		put(&l, value.text, value.size);
		p = "";
	}
	while (*p) {
		size_t plain = strcspn(p, "%");

		put(&l, p, plain);
		p += plain;
		if (*p != '%')
			break;
		if (p[1] == '%' || f->kind == KIND_POINT) {
			put(&l, p, 1);
			p += f->kind == KIND_POINT ? 1 : 2;
			continue;
		}
		p = take_conversion(p + 1, &values, &c);
		if (value_next(&values, &value))
			put_field(&l, &c, &value);
		else
			put_word(&l, "?");
	}
	/* A row ends without them. */
	while (l.p > out && l.p[-1] == '\n')
		l.p--;
	*l.p = 0;
}
