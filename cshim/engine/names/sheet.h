/* SPDX-License-Identifier: MIT
 *
 * Answers for machines: rows of named cells, as one JSON document or as CSV
 * (RFC 4180, except that lines end in LF). Numbers are integers and have their
 * unit in the column's name.
 *
 * The order of calls: sheet_begin(); members and tables, with the cells of a
 * table row by row; sheet_end().
 */
#ifndef ENGINE_SHEET_H
#define ENGINE_SHEET_H

#include "base/bytes.h"

#include "cstrace/engine.h"

/* A document under way; out and columns are borrowed. */
struct sheet {
	struct bytes *out;
	enum cst_output output; /* CST_OUTPUT_JSON or _CSV */
	const char *const *columns;
	uint32_t column; /* the next cell's */
	uint8_t has_member, has_row;
};

/* Begin and end a document; out is borrowed, and has failed set when out of
 * memory. */
void sheet_begin(struct sheet *s, enum cst_output output, struct bytes *out);
void sheet_end(struct sheet *s);

/* Add a member of the document beside its tables.  JSON has them, CSV does
 * not. */
void sheet_member_text(struct sheet *s, const char *key, const char *text);
void sheet_member_number(struct sheet *s, const char *key, uint64_t v);
void sheet_member_truth(struct sheet *s, const char *key, int v);

/* Begins a table; columns lists the names of its columns, with NULL behind the
 * last.  Its cells follow, row by row.  CSV has room for one table. */
void sheet_table(struct sheet *s, const char *key, const char *const *columns);
void sheet_table_end(struct sheet *s);

/* Add the next cell.  NULL and sheet_null() are null in JSON, empty in CSV. */
void sheet_text(struct sheet *s, const char *text);
void sheet_number(struct sheet *s, uint64_t v);
void sheet_integer(struct sheet *s, int64_t v);
void sheet_truth(struct sheet *s, int v);
void sheet_null(struct sheet *s);
/* Adds a cell whose value is JSON already; CSV has it as text.  NULL is null in
 * JSON, empty in CSV. */
void sheet_json(struct sheet *s, const char *json);
/* Adds the cell of how many percent of whole the part is, with three
 * decimals. */
void sheet_percent(struct sheet *s, uint64_t part, uint64_t whole);
/* Adds the cell of how many percent more b is than a, with three decimals; null
 * if a is 0. */
void sheet_change(struct sheet *s, uint64_t a, uint64_t b);

#endif
