/* SPDX-License-Identifier: MIT
 *
 * Appending fixed text and numbers quickly, at a place with room for them or at
 * the end of a struct bytes.
 */
#ifndef ENGINE_PUT_H
#define ENGINE_PUT_H

#include "base/bytes.h"
#include "base/number.h"

/* Copies len bytes of text to out and returns the place behind them; no NUL is
 * written. */
static inline char *put_at(char *out, const char *text, size_t len)
{
	memcpy(out, text, len);
	return out + len;
}

#define PUT_AT(out, literal) put_at(out, literal, sizeof(literal) - 1)

#define PUT(out, literal) bytes_put(out, literal, sizeof(literal) - 1)

/* Appends v in decimal digits to out. */
static inline void put_number(struct bytes *out, uint64_t v)
{
	char text[24];

	bytes_put(out, text, (size_t)(number_put(text, v) - text));
}

#endif
