/* SPDX-License-Identifier: MIT
 *
 * A part of a whole, as reports have it.
 */
#ifndef ENGINE_SHARE_H
#define ENGINE_SHARE_H

#include "base/number.h"

/* Write "  12.3%" at p, and return the place behind it. */
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
