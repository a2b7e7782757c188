/* SPDX-License-Identifier: MIT
 *
 * The numbers in a report's row: which of them are shown, and which ones order
 * the rows.  Their names are cstrace's own and uftrace's.
 */
#ifndef ENGINE_FIELDS_H
#define ENGINE_FIELDS_H

#include "base/bytes.h"
#include "base/error.h"

enum field {
	FIELD_CALLS,
	FIELD_TOTAL,
	FIELD_SELF,
	FIELD_MEAN,
	FIELD_MIN,
	FIELD_MAX,
	FIELD_SHARE,
	FIELD_SIZE, /* not shown by default */
	/* For samples alone: the standard error of SHARE, and how many. */
	FIELD_ERROR,
	FIELD_SAMPLES,
	FIELD_NAME, /* only to sort by */
	N_FIELDS
};

struct total;

struct fields {
	uint8_t all[N_FIELDS]; /* enum field */
	uint32_t n;
};

/* Reads a list such as "total,self" into f; with is_for_sort "function" is a
 * field, too.  The list may hold each field once.  Returns 0, or CST_BAD_INPUT
 * if one is not known. */
int fields_parse(struct fields *f, const char *text, int is_for_sort,
		 struct cst_error *err);
int fields_have(const struct fields *f, enum field field);
/* Set f to what a row shows by default, of calls or of samples. */
void fields_default(struct fields *f);
void fields_default_sampled(struct fields *f);

/* Returns the name of the field's column in JSON and CSV. */
const char *field_cell(enum field field);
/* Returns whether gdb's stops are included in the field's value. */
int field_is_stopped(enum field field, const struct total *t);
/* Returns the value that rows are sorted by; 0 for FIELD_NAME. */
uint64_t field_value(enum field field, const struct total *t);

/* Appends the heading of the columns to out, with "#" as its first letter. */
void fields_put_heading(const struct fields *f, struct bytes *out);
/* Writes the row's numbers and two columns between them and what follows at p,
 * and returns the place behind; `whole` is the sum of all rows' SELF. Sets
 * *is_marked if one of the numbers bears the mark of a stop. */
char *fields_put(const struct fields *f, const struct total *t, uint64_t whole,
		 char *p, uint8_t *is_marked);

#endif
