/* SPDX-License-Identifier: MIT
 *
 * The options in a golden tree, as text and as a choice.
 */
#ifndef ENGINE_GOLDEN_OPTIONS_H
#define ENGINE_GOLDEN_OPTIONS_H

#include "base/bytes.h"
#include "golden/golden.h"

/* Reads one line below "options:", without its indentation, into o.  Returns 0
 * or a negative status, CST_BAD_INPUT for what is no option; release o in any
 * case. */
int golden_option_parse(struct golden_options *o, const char *line,
			struct cst_error *err);
/* Appends the lines for a choice, with "options:" above and an empty line below
 * them; nothing for a choice of all calls.  Sets out->failed when out of
 * memory. */
void golden_options_put(const struct cst_choice *choice, struct bytes *out);
/* Sets each condition of o that the choice does not have itself; the strings
 * are borrowed from o. */
void golden_options_apply(const struct golden_options *o,
			  struct cst_choice *choice);

/* Frees the strings of o. */
void golden_options_release(struct golden_options *o);

#endif
