/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All options of all commands: one table for parsing, help and completion.
 */
#ifndef CLI_OPTION_ROWS_H
#define CLI_OPTION_ROWS_H

#include "options.h"

#include <stddef.h>

/* How a field is made of the option's value. */
enum option_how {
	AS_OWN,	   /* by a function of its own */
	AS_ON,	   /* 1; there is no value */
	AS_OFF,	   /* 0, likewise */
	AS_TEXT,   /* the value itself, borrowed */
	AS_NAME,   /* likewise, and it is not empty */
	AS_NUMBER, /* of as many bits as the field has */
	AS_TIME,   /* in nanoseconds, of "10us" */
	AS_SIZE,   /* in bytes, of "10M" */
	AS_WORD,   /* the index in words */
};

struct option_row {
	const char *name; /* NULL behind the last row */
	/* What it takes; NULL: nothing; "[=N]": a value may be given so. */
	const char *value;
	const char *help; /* NULL: for gdbext alone, in no help */
	unsigned use;	  /* FOR_... */
	/* The possible values, or what kind they are (":trace", ":format"), for
	 * completion; or NULL. */
	const char *const *words;
	enum option_how how;
	/* For AS_OWN: sets the option; returns 0, or a negative status when
	 * value is not valid. */
	int (*set)(struct options *o, const char *value);
	size_t at, size; /* else: of the field, in struct options */
};

/* The rows; --output, which is -o as well, is the first. */
extern const struct option_row option_rows[];

enum { OUTPUT_ROW = 0, MAX_OPTION_ROWS = 64 };

/* Returns whether the word behind the option is its value. */
static inline int option_row_takes_word(const struct option_row *row)
{
	return row->value && *row->value != '[';
}

/* Sets the option of the row; returns 0, or a negative status when value is not
 * valid. */
int option_row_set(const struct option_row *row, struct options *o,
		   const char *value);

/* Returns the name of the first command that has the option. */
const char *option_row_owner(const struct option_row *row);

/* Sets what holds if no option is given. */
void options_default(struct options *o);

#endif
