/* SPDX-License-Identifier: MIT
 *
 * Writes the rows of an answer as JSON or CSV, cell by cell.
 */
#include "names/sheet.h"
#include "base/utf8.h"
#include "names/json.h"
#include "names/put.h"

#include <stdlib.h>

static int is_json(const struct sheet *s)
{
	return s->output == CST_OUTPUT_JSON;
}

static void put_csv_text(struct bytes *out, const char *text)
{
	unsigned room = (unsigned)strlen(text) * 4 + 3;
	char *plain = malloc(room + 1ull);
	const char *end;

	if (!plain) {
		out->failed = 1;
		return;
	}
	end = utf8_put(plain, text, room);
	if (!memchr(plain, ',', (size_t)(end - plain)) &&
	    !memchr(plain, '"', (size_t)(end - plain))) {
		bytes_put(out, plain, (size_t)(end - plain));
		free(plain);
		return;
	}
	bytes_put_byte(out, '"');
	for (const char *p = plain; p < end; p++) {
		if (*p == '"')
			bytes_put_byte(out, '"');
		bytes_put_byte(out, (uint8_t)*p);
	}
	bytes_put_byte(out, '"');
	free(plain);
}

/* ---- the document ------------------------------------------------------- */

void sheet_begin(struct sheet *s, enum cst_output output, struct bytes *out)
{
	*s = (struct sheet){.out = out, .output = output};
	if (is_json(s))
		PUT(out, "{");
}

void sheet_end(struct sheet *s)
{
	if (is_json(s))
		PUT(s->out, "}\n");
}

static void put_key(struct sheet *s, const char *key)
{
	if (s->has_member)
		PUT(s->out, ",\n ");
	s->has_member = 1;
	json_put_string(s->out, key);
	PUT(s->out, ": ");
}

void sheet_member_text(struct sheet *s, const char *key, const char *text)
{
	if (!is_json(s))
		return;
	put_key(s, key);
	json_put_string(s->out, text);
}

void sheet_member_number(struct sheet *s, const char *key, uint64_t v)
{
	if (!is_json(s))
		return;
	put_key(s, key);
	put_number(s->out, v);
}

static void put_truth(struct sheet *s, int v)
{
	if (v)
		PUT(s->out, "true");
	else
		PUT(s->out, "false");
}

void sheet_member_truth(struct sheet *s, const char *key, int v)
{
	if (!is_json(s))
		return;
	put_key(s, key);
	put_truth(s, v);
}

/* ---- its table ---------------------------------------------------------- */

void sheet_table(struct sheet *s, const char *key, const char *const *columns)
{
	s->columns = columns;
	s->column = 0;
	s->has_row = 0;
	if (is_json(s)) {
		put_key(s, key);
		PUT(s->out, "[");
		return;
	}
	for (uint32_t i = 0; columns[i]; i++) {
		if (i)
			PUT(s->out, ",");
		put_csv_text(s->out, columns[i]);
	}
	PUT(s->out, "\n");
}

void sheet_table_end(struct sheet *s)
{
	if (is_json(s))
		PUT(s->out, "]");
}

static void begin_cell(struct sheet *s)
{
	if (!is_json(s)) {
		if (s->column)
			PUT(s->out, ",");
		return;
	}
	if (s->column)
		PUT(s->out, ", ");
	else if (s->has_row)
		PUT(s->out, ",\n  {");
	else
		PUT(s->out, "\n  {");
	json_put_string(s->out, s->columns[s->column]);
	PUT(s->out, ": ");
}

static void end_cell(struct sheet *s)
{
	if (s->columns[++s->column])
		return;
	s->column = 0;
	s->has_row = 1;
	if (is_json(s))
		PUT(s->out, "}");
	else
		PUT(s->out, "\n");
}

void sheet_text(struct sheet *s, const char *text)
{
	begin_cell(s);
	if (is_json(s))
		json_put_string(s->out, text);
	else if (text)
		put_csv_text(s->out, text);
	end_cell(s);
}

void sheet_number(struct sheet *s, uint64_t v)
{
	begin_cell(s);
	put_number(s->out, v);
	end_cell(s);
}

void sheet_integer(struct sheet *s, int64_t v)
{
	begin_cell(s);
	if (v < 0)
		PUT(s->out, "-");
	put_number(s->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
	end_cell(s);
}

void sheet_truth(struct sheet *s, int v)
{
	begin_cell(s);
	put_truth(s, v);
	end_cell(s);
}

void sheet_null(struct sheet *s)
{
	begin_cell(s);
	if (is_json(s))
		PUT(s->out, "null");
	end_cell(s);
}

void sheet_json(struct sheet *s, const char *json)
{
	begin_cell(s);
	if (is_json(s))
		bytes_put(s->out, json ? json : "null",
			  strlen(json ? json : "null"));
	else if (json)
		put_csv_text(s->out, json);
	end_cell(s);
}

static void put_percent(struct sheet *s, uint64_t part, uint64_t whole)
{
	unsigned __int128 n = (unsigned __int128)part * 100000;
	uint64_t thousandths = whole ? (uint64_t)((n + whole / 2) / whole) : 0;
	char digits[8];

	put_number(s->out, thousandths / 1000);
	PUT(s->out, ".");
	number_put_digits(digits, (uint32_t)(thousandths % 1000), 3);
	bytes_put(s->out, digits, 3);
}

void sheet_percent(struct sheet *s, uint64_t part, uint64_t whole)
{
	begin_cell(s);
	put_percent(s, part, whole);
	end_cell(s);
}

void sheet_change(struct sheet *s, uint64_t a, uint64_t b)
{
	if (!a) {
		sheet_null(s);
		return;
	}
	begin_cell(s);
	if (b < a)
		PUT(s->out, "-");
	put_percent(s, b < a ? a - b : b - a, a);
	end_cell(s);
}
