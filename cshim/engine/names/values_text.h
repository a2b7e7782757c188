/* SPDX-License-Identifier: MIT
 *
 * Values as rows have them.
 */
#ifndef ENGINE_VALUES_TEXT_H
#define ENGINE_VALUES_TEXT_H

#include "names/values.h"

/* The most bytes that the functions below write. */
enum { VALUES_ROOM = 4096 };

/* Appends what stands behind the name of a row: `(file="a.txt", n=3)`, with
 * ` = 7` for a result (alone if is_close is set); a counter's ` = 512`, an
 * asynchronous span's ` #7(n=3)`. For a message it is all of the row's text,
 * `log: queue is full`. Not printable characters are escaped.  f is what the
 * values are of; v may be NULL.  Returns the place behind the text. */
char *values_put_row(char *out, const struct function *f,
		     const struct values *v, int is_close);

/* Appends a value as it stands in a row.  Returns the place behind it. */
char *value_put(char *out, const struct value *v);

/* Puts a message's text into out, NUL-terminated and not escaped; size is
 * VALUES_ROOM or more. */
void values_message(const struct function *f, const struct values *v, char *out,
		    size_t size);

/* Writes a value that is no text, no struct and no array, NUL-terminated, and
 * returns the length, which is less than VALUE_NUMBER_ROOM. */
int value_put_number(const struct value *v, char *out);
enum { VALUE_NUMBER_ROOM = 64 };

#endif
