/* SPDX-License-Identifier: MIT
 *
 * Extended regular expressions, as regcomp() takes them, but none whose
 * repetitions of repetitions would make it explode.
 */
#ifndef ENGINE_REGEX_H
#define ENGINE_REGEX_H

#include "base/error.h"

#include <regex.h>

/* Compile `text` for regexec() without submatches.  0: `out` is the caller's
 * to regfree(); CST_BAD_INPUT with the reason in words: there is nothing to
 * free. */
int regex_compile(regex_t *out, const char *text, struct cst_error *err);

#endif
