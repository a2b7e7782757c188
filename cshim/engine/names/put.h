/* SPDX-License-Identifier: MIT
 *
 * Fixed text, put out quickly: at a place with room for it, or at the end of
 * bytes.
 */
#ifndef ENGINE_PUT_H
#define ENGINE_PUT_H

#include "base/bytes.h"
#include "base/number.h"

/* Return the place behind what was put; nothing is terminated. */
static inline char *put_at(char *out, const char *text, size_t len)
{
	memcpy(out, text, len);
	return out + len;
}

#define PUT_AT(out, literal) put_at(out, literal, sizeof(literal) - 1)

#define PUT(out, literal) bytes_put(out, literal, sizeof(literal) - 1)

static inline void put_number(struct bytes *out, uint64_t v)
{
	char text[24];

	bytes_put(out, text, (size_t)(number_put(text, v) - text));
}

#endif
