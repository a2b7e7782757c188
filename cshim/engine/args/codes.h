/* SPDX-License-Identifier: MIT
 *
 * The short form of a plan.  Nearly all values are integers that lie there as
 * they are shown, or texts: then a code of four bits says all that it takes to
 * decode one, and the codes of a hook's values have room in its site, so that
 * the reader looks at nothing else.
 */
#ifndef ENGINE_CODES_H
#define ENGINE_CODES_H

#include "args/integers.h"
#include "elf/modules.h"

enum {
	CODES_MAX = 4, /* of one hook */
	CODE_BITS = 4,
	CODE_MASK = 15,
	/* Bytes in a file that the values of a hook with codes have room in. */
	CODES_MOST = CST_RAW_MAX + CODES_MAX * INTEGER_MOST,
};

/* The code of an integer: its kind's, and which power of two its size is.
 * CODE_COMPUTED stands before that of a result which is computed of what is
 * copied.  0: no more values. */
enum {
	CODE_INT = 1,
	CODE_UINT = 5,
	CODE_CHAR = 9,
	CODE_GONE = 10, /* optimized out: it has no bytes */
	CODE_POINTER = 12,
	CODE_BOOL = 13,
	CODE_TEXT = 14,
	CODE_COMPUTED = 15,
};

/* Returns the code of an integer of that kind and a size of 1, 2, 4 or 8 bytes;
 * 0: it has none. */
static inline uint32_t code_of_integer(uint8_t kind, uint32_t size)
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

INLINE int codes_are_computed(uint32_t codes)
{
	return (codes & CODE_MASK) == CODE_COMPUTED;
}

/* Returns how many raw bytes an integer of that code has. */
INLINE uint32_t code_size(uint32_t code)
{
	return 1u << ((code - 1) & 3);
}

/* Writes the integer in the low bytes of raw.  Returns the byte behind it; or
 * NULL for a pointer to what may have a name in m. */
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

/* Writes the text that CST_COPY_TEXT has emitted at *at, and moves *at behind
 * it, at most to `end`.  Returns the byte behind what is written; or NULL if
 * the bytes end before the text does. */
INLINE uint8_t *text_put(uint8_t *p, const uint8_t **at, const uint8_t *end)
{
	uint64_t n_left = (uint64_t)(end - *at), n;
	const uint8_t *from = *at;

	if (!n_left)
		return NULL;
	if (*from != CST_COPIED_OK && *from != CST_COPIED_CUT) {
		*p = *from == CST_COPIED_NULL ? CST_VALUE_NULL : CST_VALUE_BAD;
		*at = from + 1;
		return p + 1;
	}
	if (n_left < 2 || n_left - 2 < from[1])
		return NULL;
	n = from[1];
	*p++ = *from == CST_COPIED_OK ? CST_VALUE_TEXT : CST_VALUE_CUT_TEXT;
	if (n >= 0x80)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)(n >= 0x80 ? n >> 7 : n);
	memcpy(p, from + 2, n);
	*at = from + 2 + n;
	return p + n;
}

/* Writes the values of n raw bytes, for which CODES_MOST bytes have room at p.
 * Returns the byte behind them; or NULL as code_put() does, or if there are
 * more or fewer raw bytes than these values have. */
INLINE uint8_t *codes_put(uint8_t *p, uint32_t codes, const uint8_t *raw,
			  uint32_t n, const struct modules *m)
{
	const uint8_t *at = raw, *end = raw + n;

	for (; codes && p; codes >>= CODE_BITS) {
		uint32_t code = codes & CODE_MASK, size = code_size(code);

		if (code == CODE_TEXT) {
			p = text_put(p, &at, end);
		} else if (code == CODE_GONE) {
			*p++ = CST_VALUE_GONE;
		} else if (end - at < size) {
			return NULL;
		} else {
			p = code_put(p, code, integer_at(at, size), m);
			at += size;
		}
	}
	return at == end ? p : NULL;
}

/* Writes the values that an event's own record holds, each of which has so many
 * bits there (CST_COPY_PLAIN), as codes_put() does. */
INLINE uint8_t *codes_put_packed(uint8_t *p, uint32_t codes, uint32_t bits,
				 uint64_t packed, const struct modules *m)
{
	uint64_t half = bits ? 1ull << (bits - 1) : 0, mask = 2 * half - 1;

	for (; codes && p; codes >>= CODE_BITS) {
		uint32_t code = codes & CODE_MASK;

		if (code == CODE_GONE) {
			*p++ = CST_VALUE_GONE;
			continue;
		}
		p = code_put(p, code, (packed & mask) - half, m);
		packed >>= bits;
	}
	return p;
}

#endif
