/* SPDX-License-Identifier: MIT
 *
 * Percentages, as reports print them.
 */
#ifndef ENGINE_SHARE_H
#define ENGINE_SHARE_H

#include "base/number.h"

/* Writes how many percent of `whole` the part is, " 12.3%", at p and returns
 * the place behind it.  A `whole` of 0 gives 0. */
static inline char *share_put(char *p, uint64_t part, uint64_t whole)
{
	unsigned __int128 n = (unsigned __int128)part * 1000 + whole / 2;
	uint64_t tenths = whole ? (uint64_t)(n / whole) : 0;

	p = number_put_wide(p, tenths / 10, 4);
	*p++ = '.';
	*p++ = (char)('0' + tenths % 10);
	*p++ = '%';
	return p;
}

#endif
