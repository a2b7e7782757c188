/* SPDX-License-Identifier: MIT
 *
 * Extended regular expressions, as regcomp() accepts them, except those whose
 * nested repetitions would make it use time and memory without bounds.
 */
#ifndef ENGINE_REGEX_H
#define ENGINE_REGEX_H

#include "base/error.h"

#include <regex.h>

/* Compiles `text` for regexec() without submatches.  Returns 0, and the caller
 * frees *out with regfree(); or CST_BAD_INPUT with the reason in err, and there
 * is nothing to free. */
int regex_compile(regex_t *out, const char *text, struct cst_error *err);

#endif
