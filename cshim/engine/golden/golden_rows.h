/* SPDX-License-Identifier: MIT
 *
 * Saved text trees ("cstrace save x.txt"), read as golden trees.
 */
#ifndef ENGINE_GOLDEN_ROWS_H
#define ENGINE_GOLDEN_ROWS_H

#include "base/bytes.h"

/* The same tree in the language of golden trees; line i of it comes from line
 * lines[i] of the saved one, both from 0 and 1. */
struct golden_rows {
	struct bytes text; /* terminated */
	uint32_t *lines;
	uint32_t n_lines;
	uint8_t is_mixed; /* rows of several threads are not told apart */
};

/* Whether the text begins as a saved tree does. */
int golden_rows_are(const char *text);
/* Is it one where a row may be several calls, which is no golden tree? */
int golden_rows_are_folded(const char *text);

/* text is written over.  0: *out is the caller's to release; CST_BAD_INPUT:
 * line *bad_line is no row; CST_MEMORY. */
int golden_rows_convert(struct golden_rows *out, char *text,
			uint32_t *bad_line);
void golden_rows_release(struct golden_rows *r);

#endif
