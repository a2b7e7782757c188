/* SPDX-License-Identifier: MIT
 *
 * Saved text trees ("cstrace save x.txt"), read as golden trees.
 */
#ifndef ENGINE_GOLDEN_ROWS_H
#define ENGINE_GOLDEN_ROWS_H

#include "base/bytes.h"

/* A saved tree in the language of golden trees.  lines[i] is the line of the
 * saved tree, counted from 1, that line i of text, counted from 0, comes from.
 * */
struct golden_rows {
	struct bytes text; /* terminated */
	uint32_t *lines;
	uint32_t n_lines;
	uint8_t is_mixed; /* rows of several threads are mixed */
};

/* Returns whether the text begins as a saved tree does. */
int golden_rows_are(const char *text);
/* Returns whether the text begins as a saved tree of folded rows does, which
 * cannot be a golden tree: a row may be several calls. */
int golden_rows_are_folded(const char *text);

/* Converts a saved tree; text is overwritten.  Returns 0, and the caller
 * releases *out; CST_BAD_INPUT if line *bad_line, from 1, is no row; or
 * CST_MEMORY.  None of them has a message. */
int golden_rows_convert(struct golden_rows *out, char *text,
			uint32_t *bad_line);

/* Frees the memory of r. */
void golden_rows_release(struct golden_rows *r);

#endif
