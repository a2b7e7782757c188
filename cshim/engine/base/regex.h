/* SPDX-License-Identifier: MIT
 *
 * Regular expressions in bounded time and memory: PCRE2's, which take what
 * POSIX calls extended ones, but read a backslash in brackets as an escape.
 */
#ifndef ENGINE_REGEX_H
#define ENGINE_REGEX_H

#include "base/error.h"

struct regex;

/* Compiles `text`: for bytes if it is ASCII, else for UTF-8.  Returns 0, and
 * the caller frees *out with regex_free(); or CST_BAD_INPUT with the reason in
 * err, or CST_MEMORY, and *out is NULL. */
int regex_compile(struct regex **out, const char *text, struct cst_error *err);
void regex_free(struct regex *r);

/* Returns 1 if r is found in the text.  Where r is for UTF-8, no other text
 * matches; neither does one for which r exceeds its limits. */
int regex_matches(struct regex *r, const char *text);

#endif
