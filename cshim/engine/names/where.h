/* SPDX-License-Identifier: MIT
 *
 * Whether a call's values meet a condition.  What a call does not have, or what
 * is not known of it, is neither equal nor unequal to anything: with that the
 * call does not meet a comparison, nor its negation.
 */
#ifndef ENGINE_WHERE_H
#define ENGINE_WHERE_H

#include "names/names.h"
#include "names/where_parse.h"

/* Returns whether a call of f meets the condition: n bytes of values at the
 * entry, and behind them n_result bytes of those at the end. */
int where_holds(const struct where *w, const struct function *f,
		const uint8_t *values, uint32_t n, uint32_t n_result);

/* Returns 1 if each name of the condition is one that some function has. Else 0
 * and a sentence in wrong, of size bytes: "no function has a value 'bas': did
 * you mean base?". */
int where_knows(const struct where *w, const struct names *names, char *wrong,
		uint32_t size);

#endif
