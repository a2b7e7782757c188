/* SPDX-License-Identifier: MIT
 *
 * A column: n numbers of 64 bits, most of them small.  Three runs of bytes:
 * the codes (two bits each, four to a byte, the first in the lowest bits), the
 * lowest byte of each number, and the 0, 1, 3 or 7 more bytes that its code
 * says.  Like runs beside like compress well, and nothing in reading one is
 * a jump that cannot be foreseen.  A small number appended is one byte stored.
 */
#ifndef ENGINE_COLUMN_H
#define ENGINE_COLUMN_H

#include "base/bytes.h"

/* A column that is being written, number by number from 0. */
struct column {
	uint8_t *low;
	uint8_t *codes;
	uint8_t *high; /* begin of the third run */
	uint8_t *end;  /* where its next bytes go */
};

/* The memory of a column of n numbers, each of at most 1 + n_more bytes. */
#define COLUMN_SIZE(n, n_more) \
	((size_t)(n) * (1 + (n_more)) + ((size_t)(n) + 3) / 4 + 8)

/* Lays out an empty column of up to n numbers in COLUMN_SIZE(n, n_more) bytes
 * at memory, which remains the caller's.  Returns the byte behind them. */
uint8_t *column_init(struct column *c, uint8_t *memory, uint32_t n,
		     unsigned n_more);
/* Makes c an empty column again; at most n numbers were added. */
void column_clear(struct column *c, uint32_t n);
/* Copies the first n numbers of the column `from` into c, which has room for
 * them. */
void column_move(struct column *c, const struct column *from, uint32_t n);

/* Returns the sum of the first n numbers that were added, and in *next the one
 * behind them. */
uint64_t column_sum(const struct column *c, uint32_t n, uint64_t *next);

/* Appends the column in its stored form to out; n is how many numbers were
 * added to c. */
void column_put(const struct column *c, uint32_t n, struct bytes *out);

/* Does the rest of column_add() for a number that needs more than one byte. */
static inline void column_add_high(struct column *c, uint32_t i, uint64_t v)
{
	unsigned code = 1u + (v > 0xffff) + (v > 0xffffffff);

	c->codes[i / 4] |= (uint8_t)(code << 2 * (i & 3));
	put_u64(c->end, v >> 8);
	c->end += (1u << code) - 1;
}

/* Adds v as number i; the numbers are added in order, from 0. */
static inline void column_add(struct column *c, uint32_t i, uint64_t v)
{
	c->low[i] = (uint8_t)v;
	if (__builtin_expect(v > 0xff, 0))
		column_add_high(c, i, v);
}

/* column_skip() advances c past a column of n numbers, column_get() unpacks it
 * into values.  Both fail the cursor when the bytes do not suffice; 8 readable
 * bytes must follow c->end. */
void column_skip(struct cursor *c, uint32_t n);
void column_get(struct cursor *c, uint64_t *values, uint32_t n);

#endif
