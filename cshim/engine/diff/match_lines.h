/* SPDX-License-Identifier: MIT
 *
 * The call sites of one source file in two builds: which line of the one is
 * which of the other.  For match_functions.c alone.
 */
#ifndef ENGINE_MATCH_LINES_H
#define ENGINE_MATCH_LINES_H

#include <stdint.h>

/* All calls of a function by another on a line. */
struct place {
	const char *file;  /* without its folders; "": not known */
	uint32_t function; /* the callee, by its joint number */
	uint32_t caller;   /* likewise, or UINT32_MAX */
	uint32_t line;
	uint32_t index; /* one of the sites there */
};

/* Fill partner[i], for each of the n_a places at a, with the index + 1 in b
 * of the same one, or 0.  Both are of one file, in order of line.  With
 * is_same_build a line moves only together with others.  Negative: out of
 * memory. */
int match_lines(const struct place *a, uint32_t n_a, const struct place *b,
		uint32_t n_b, int is_same_build, uint32_t *partner);

#endif
