/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All options of all commands: one table for parsing, help and completion.
 */
#ifndef CLI_OPTION_ROWS_H
#define CLI_OPTION_ROWS_H

#include "options.h"

struct option_row {
	const char *name; /* NULL behind the last row */
	/* What it takes; NULL: nothing; "[=N]": a value may be given so. */
	const char *value;
	const char *help; /* NULL: for gdbext alone, in no help */
	unsigned use;	  /* FOR_... */
	/* Sets the option; returns 0, or -1 when value is not valid. */
	int (*set)(struct options *o, const char *value);
	/* The possible values, or what kind they are (":trace", ":format"), for
	 * completion; or NULL. */
	const char *const *words;
};

/* The rows; --output, which is -o as well, is the first. */
extern const struct option_row option_rows[];

enum { OUTPUT_ROW = 0, MAX_OPTION_ROWS = 64 };

/* Returns whether the word behind the option is its value. */
static inline int option_row_takes_word(const struct option_row *row)
{
	return row->value && *row->value != '[';
}

/* Returns the name of the first command that has the option. */
const char *option_row_owner(const struct option_row *row);

/* Sets what holds if no option is given. */
void options_default(struct options *o);

#endif
