/* SPDX-License-Identifier: MIT
 *
 * Matches the call sites of one source file in two builds: which line of one is
 * which line of the other.  Only match_functions.c uses it.
 */
#ifndef ENGINE_MATCH_LINES_H
#define ENGINE_MATCH_LINES_H

#include <stdint.h>

/* All calls of one function that another one makes on one line. */
struct place {
	const char *file;  /* without its folders; "": not known */
	uint32_t function; /* the callee, by its joint number */
	uint32_t caller;   /* likewise, or UINT32_MAX */
	uint32_t line;
	uint32_t index; /* one of the sites there */
};

/* Sets partner[i], for each of the n_a places at a, to the index + 1 of its
 * counterpart among the n_b places at b, or to 0.  Both lists are of one file,
 * in order of line.  With is_same_build a line counts as moved only if others
 * moved with it.  In very long lists only places on equal lines are matched.
 * Returns 0, or CST_MEMORY. */
int match_lines(const struct place *a, uint32_t n_a, const struct place *b,
		uint32_t n_b, int is_same_build, uint32_t *partner);

#endif
