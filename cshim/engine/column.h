/* SPDX-License-Identifier: MIT
 *
 * A column: n numbers of 64 bits, most of them small.  Three runs of bytes:
 * the codes (two bits each, four to a byte, the first in the lowest bits), the
 * lowest byte of each number, and the 0, 1, 3 or 7 more bytes that its code
 * says.  Like runs beside like compress well, and nothing in reading one is
 * a jump that cannot be foreseen.
 */
#ifndef ENGINE_COLUMN_H
#define ENGINE_COLUMN_H

#include "bytes.h"

/* The most bytes that n numbers take, and what column_put() may overrun. */
#define COLUMN_MAX(n) ((size_t)(n)*8 + ((size_t)(n) + 3) / 4 + 8)

/* Returns the bytes written at out, where COLUMN_MAX(n) must be there. */
size_t column_put(uint8_t *out, const uint64_t *values, uint32_t n);

/* Fails the cursor when the bytes do not suffice.  8 readable bytes must
 * follow the cursor's end. */
void column_get(struct cursor *c, uint64_t *values, uint32_t n);

#endif
