/* SPDX-License-Identifier: MIT
 *
 * The options in a golden tree, as text and as a choice.
 */
#ifndef ENGINE_GOLDEN_OPTIONS_H
#define ENGINE_GOLDEN_OPTIONS_H

#include "base/bytes.h"
#include "golden/golden.h"

/* Reads one line below "options:" into o.  Returns 0, or CST_BAD_INPUT. */
int golden_option_parse(struct golden_options *o, const char *line,
			struct cst_error *err);
/* Appends such lines for a choice, with their heading; nothing for a choice of
 * all calls. */
void golden_options_put(const struct cst_choice *choice, struct bytes *out);
/* Sets in the choice what it leaves open; its strings are borrowed from o. */
void golden_options_apply(const struct golden_options *o,
			  struct cst_choice *choice);

/* Frees the strings of o. */
void golden_options_release(struct golden_options *o);

#endif
