/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All options of all commands: one table for parsing, help and completion.
 */
#ifndef CLI_OPTION_ROWS_H
#define CLI_OPTION_ROWS_H

#include "options.h"

struct option_row {
	const char *name;  /* NULL behind the last row */
	const char *value; /* what it takes, NULL: nothing */
	const char *help;  /* NULL: for gdbext alone, and told nobody else */
	unsigned use;	   /* FOR_... */
	/* 0, or -1 when value is not a good one. */
	int (*set)(struct options *o, const char *value);
	/* The values there are, or what they are (":trace", ":format"), for
	 * completion; or NULL. */
	const char *const *words;
};

/* That of --output, which is -o as well, is the first. */
extern const struct option_row option_rows[];

enum { OUTPUT_ROW = 0, MAX_OPTION_ROWS = 64 };

/* What holds where no option says otherwise. */
void options_default(struct options *o);

#endif
