/* SPDX-License-Identifier: MIT
 *
 * Integers among the values of calls: how raw bytes become one, and how a file
 * has it.
 */
#ifndef ENGINE_INTEGERS_H
#define ENGINE_INTEGERS_H

#include "base/bytes.h"
#include "base/inline.h"
#include "cstrace/layout.h"

enum { INTEGER_MOST = 1 + 10 }; /* bytes in a file */

/* Writes a number of enum cst_value at p, where INTEGER_MOST bytes have room,
 * in the shorter of its two forms.  Returns the byte behind it. */
INLINE uint8_t *integer_put(uint8_t *p, uint8_t kind, uint64_t value)
{
	uint64_t rest = value;

	if (kind == CST_VALUE_POINTER && value >> 32 && !(value >> 48)) {
		*p = CST_VALUE_LONG_POINTER;
		put_u64(p + 1, value);
		return p + 1 + 6;
	}
	if (kind == CST_VALUE_INT)
		rest = value << 1 ^ ((int64_t)value < 0 ? ~0ull : 0);
	if (unlikely(rest >> 56) && kind != CST_VALUE_POINTER) {
		*p = kind == CST_VALUE_INT ? CST_VALUE_LONG_INT
					   : CST_VALUE_LONG_UINT;
		put_u64(p + 1, value);
		return p + 1 + 8;
	}
	*p++ = kind;
	for (; rest >= 0x80; rest >>= 7)
		*p++ = (uint8_t)(rest | 0x80);
	*p++ = (uint8_t)rest;
	return p;
}

/* Returns the low bytes of a number, with its sign above them if it is
 * signed. */
INLINE uint64_t integer_low(uint64_t value, uint32_t size, int is_signed)
{
	uint32_t shift = size && size < 8 ? 64 - 8 * size : 0;

	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

/* Returns the number of `size` bytes there, at most 8.  Bytes that were written
 * together are read together: it is slow to have them in other pieces. */
INLINE uint64_t integer_at(const uint8_t *at, uint32_t size)
{
	uint64_t value = 0;

	if (size == 4)
		return get_u32(at);
	if (size >= 8)
		return get_u64(at);
	if (size == 1)
		return *at;
	memcpy(&value, at, size);
	return value;
}

#endif
