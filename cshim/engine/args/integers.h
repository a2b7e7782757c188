/* SPDX-License-Identifier: MIT
 *
 * Integers among the values of calls: how raw bytes become one, and how a file
 * has it.  Nearly all values are such, and lie there as they are shown; what
 * a hook copies then has a short form, `codes`, from which it is decoded with
 * nothing else being looked at.
 */
#ifndef ENGINE_INTEGERS_H
#define ENGINE_INTEGERS_H

#include "base/bytes.h"
#include "base/inline.h"
#include "cstrace/layout.h"
#include "elf/modules.h"

enum {
	INTEGER_MOST = 1 + 10, /* bytes in a file */
	INTEGERS_MAX = 4,      /* of one hook that has codes */
	INTEGER_CODE = 4,      /* bits; 0: no more integers */
};

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

/* ---- codes ----------------------------------------------------------------
 */

/* The code of an integer: its kind's, and which power of two its size is.
 * CODE_COMPUTED stands before that of a result which is computed of what is
 * copied. */
enum {
	CODE_INT = 1,
	CODE_UINT = 5,
	CODE_CHAR = 9,
	CODE_POINTER = 12,
	CODE_BOOL = 13,
	CODE_COMPUTED = 15,
};

/* Returns the code of a kind and a size of 1, 2, 4 or 8 bytes; 0: it has
 * none. */
static inline uint32_t integer_code(uint8_t kind, uint32_t size)
{
	switch (kind) {
	case CST_VALUE_INT:
		return CODE_INT + (uint32_t)__builtin_ctz(size);
	case CST_VALUE_UINT:
		return CODE_UINT + (uint32_t)__builtin_ctz(size);
	case CST_VALUE_CHAR:
		return CODE_CHAR;
	case CST_VALUE_POINTER:
		return CODE_POINTER;
	case CST_VALUE_BOOL:
		return CODE_BOOL;
	default:
		return 0;
	}
}

INLINE uint32_t code_size(uint32_t code)
{
	return 1u << ((code - 1) & 3);
}

/* Writes what the low bytes of raw are as the code says.  Returns the byte
 * behind it; or NULL for a pointer to what may have a name in m. */
INLINE uint8_t *code_put(uint8_t *p, uint32_t code, uint64_t raw,
			 const struct modules *m)
{
	uint32_t size = code_size(code);

	if (code < CODE_CHAR)
		return integer_put(
			p, code < CODE_UINT ? CST_VALUE_INT : CST_VALUE_UINT,
			integer_low(raw, size, code < CODE_UINT));
	if (code == CODE_POINTER)
		return raw && !modules_is_void(m, raw)
			       ? NULL
			       : integer_put(p, CST_VALUE_POINTER, raw);
	*p = code == CODE_BOOL ? CST_VALUE_BOOL : CST_VALUE_CHAR;
	p[1] = code == CODE_BOOL ? (uint8_t)raw != 0 : (uint8_t)raw;
	return p + 2;
}

/* Writes the integers that an event's own record holds (CST_COPY_PLAIN), for
 * which INTEGERS_MAX * INTEGER_MOST bytes have room at p.  Returns the byte
 * behind them, or NULL as code_put() does. */
INLINE uint8_t *codes_put_packed(uint8_t *p, uint32_t codes, uint64_t packed,
				 const struct modules *m)
{
	uint32_t n = (35 - (uint32_t)__builtin_clz(codes)) / INTEGER_CODE;
	uint32_t bits = CST_NUMBERS_BITS / n;
	uint64_t half = 1ull << (bits - 1), mask = 2 * half - 1;

	for (; codes && p; codes >>= INTEGER_CODE, packed >>= bits)
		p = code_put(p, codes & 15, (packed & mask) - half, m);
	return p;
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

/* Writes those in n raw bytes, of which there are at least 32 in memory.
 * Returns the byte behind what is written; or NULL as code_put() does, or if
 * there are more or fewer raw bytes than these integers have. */
INLINE uint8_t *codes_put(uint8_t *p, uint32_t codes, const uint8_t *raw,
			  uint32_t n, const struct modules *m)
{
	const uint8_t *at = raw;

	for (; codes && p; codes >>= INTEGER_CODE) {
		uint32_t size = code_size(codes & 15);

		p = code_put(p, codes & 15, integer_at(at, size), m);
		at += size;
	}
	return at - raw == n ? p : NULL;
}

#endif
