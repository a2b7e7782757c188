/* SPDX-License-Identifier: MIT
 *
 * The values of a call, a span or a message, as the program recorded them (enum
 * cst_value), and how they are written.  The bytes may be anybody's: what is no
 * value ends the list.
 */
#ifndef ENGINE_VALUES_H
#define ENGINE_VALUES_H

#include "base/bytes.h"
#include "names/names.h"

/* The values at the entry, n bytes of them, and behind these n_result bytes of
 * those at the end.  With n_refs 0 they lie in somebody else's memory. */
struct values {
	uint32_t n_refs;
	uint32_t n, n_result;
	uint8_t data[];
};

/* Returns values of one reference, or NULL when out of memory. */
struct values *values_new(const void *data, uint32_t n, const void *result,
			  uint32_t n_result);
/* Returns those of a message that gdb or the reader makes: the text, cut to the
 * most bytes that a record could have.  NULL: out of memory. */
struct values *values_of_text(const char *text);
/* Returns v with one more reference, or a copy where it has none; NULL for
 * NULL, or when out of memory. */
const struct values *values_keep(const struct values *v);
/* Drops a reference, and frees v with the last one; v may be NULL. */
void values_drop(const struct values *v);

/* Return whether a and b are equal, and a hash of v; each may be NULL. */
int values_equal(const struct values *a, const struct values *b);
uint64_t values_hash(const struct values *v);

/* Appends values with no reference to out, which are valid as long as its
 * memory is; returns their place in it. */
size_t values_put(struct bytes *out, const void *data, uint32_t n,
		  const void *result, uint32_t n_result);

/* ---- one by one ---------------------------------------------------------- */

/* The most structs and arrays within each other: what is deeper is no value. */
enum { VALUES_DEPTH = 4 };

struct value_list {
	struct cursor c;
	const char *names; /* of those to come */
};

struct value {
	uint8_t kind;	  /* enum cst_value */
	const char *name; /* not NUL-terminated */
	size_t name_size; /* 0: it has no name */
	union {
		int64_t i;
		uint64_t u; /* of an array: how many elements it has */
		double f;
	};
	const char *text; /* of a text or a name, not NUL-terminated */
	uint32_t size;
	struct value_list inside; /* the fields, the first elements */
};

/* Returns a list over n bytes of values with these names (commas between, or
 * NULL).  Behind a newline are those of the result, which has none itself, but
 * its fields do. */
struct value_list value_list(const void *data, uint32_t n, const char *names);
/* Returns a list over the bytes of a result. */
struct value_list value_list_of_result(const void *data, uint32_t n,
				       const char *names);

/* Puts the next value into *out, a struct or an array as one.  Returns 1, or 0
 * at the end. */
int value_next(struct value_list *l, struct value *out);

/* Returns whether v is an integer or a floating-point number, and puts it into
 * *out. */
int value_as_number(const struct value *v, long double *out);

/* Returns whether v is text, or the name of something. */
int value_is_text(const struct value *v);

/* Goes on from *v into its fields, by their names; "size", the last name, is
 * how many elements an array has.  Returns whether they are there. */
int value_field(char *const *names, uint32_t n, struct value *v);
/* Takes the value of the first name into *out, or the field of it that the
 * other names (n with the first) lead to.  Returns whether it is there. */
int value_find(struct value_list l, char *const *names, uint32_t n,
	       struct value *out);

/* Takes the first value of the entry, or the result (names are those of all the
 * function's values), into *out.  Returns whether there is one. */
int values_first(const struct values *v, struct value *out);
int values_result(const struct values *v, const char *names, struct value *out);

#endif
