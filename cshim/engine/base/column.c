/* SPDX-License-Identifier: MIT
 *
 * Lays columns of numbers out in memory, writes them, and unpacks them.
 */
#include "base/column.h"

static const uint8_t more[4] = {0, 1, 3, 7};
static const uint64_t mask[4] = {0, 0xff, 0xffffff, 0xffffffffffffff};

uint8_t *column_init(struct column *c, uint8_t *memory, uint32_t n,
		     unsigned n_more)
{
	c->codes = memory;
	c->low = c->codes + ((size_t)n + 3) / 4;
	c->high = c->end = c->low + n;
	memset(c->codes, 0, ((size_t)n + 3) / 4);
	return memory + COLUMN_SIZE(n, n_more);
}

void column_clear(struct column *c, uint32_t n)
{
	memset(c->codes, 0, ((size_t)n + 3) / 4);
	c->end = c->high;
}

void column_move(struct column *c, const struct column *from, uint32_t n)
{
	size_t n_high = (size_t)(from->end - from->high);

	memcpy(c->codes, from->codes, ((size_t)n + 3) / 4);
	memcpy(c->low, from->low, n);
	memcpy(c->high, from->high, n_high);
	c->end = c->high + n_high;
}

void column_put(const struct column *c, uint32_t n, struct bytes *out)
{
	bytes_put(out, c->codes, ((size_t)n + 3) / 4);
	bytes_put(out, c->low, n);
	bytes_put(out, c->high, (size_t)(c->end - c->high));
}

/* How many bytes lie in the third run, for each byte of codes. */
static size_t high_size(const uint8_t *codes, uint32_t n)
{
	size_t size = 0;

	for (uint32_t i = 0; i < n; i++) {
		/* Mostly all are 0. */
		if (n - i >= 8 && !get_u64(codes + i)) {
			i += 7;
			continue;
		}
		size += (size_t)more[codes[i] & 3] + more[codes[i] >> 2 & 3] +
			more[codes[i] >> 4 & 3] + more[codes[i] >> 6];
	}
	return size;
}

static inline const uint8_t *get_one(uint64_t *v, const uint8_t *high,
				     uint8_t low, unsigned code)
{
	*v = low | (get_u64(high) & mask[code]) << 8;
	return high + more[code];
}

uint64_t column_sum(const struct column *c, uint32_t n, uint64_t *next)
{
	const uint8_t *high = c->high;
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= n; i++) {
		sum += i ? *next : 0;
		high = get_one(next, high, c->low[i],
			       c->codes[i / 4] >> 2 * (i & 3) & 3);
	}
	return sum;
}

void column_skip(struct cursor *c, uint32_t n)
{
	size_t n_codes = ((size_t)n + 3) / 4, left = (size_t)(c->end - c->p);

	if (c->failed || left < n_codes + n ||
	    left - n_codes - n < high_size(c->p, (uint32_t)n_codes)) {
		c->failed = 1;
		return;
	}
	c->p += n_codes + n + high_size(c->p, (uint32_t)n_codes);
}

void column_get(struct cursor *c, uint64_t *values, uint32_t n)
{
	const uint8_t *codes = c->p, *low = codes + ((size_t)n + 3) / 4;
	const uint8_t *high = low + n;
	uint32_t i = 0;

	column_skip(c, n);
	if (c->failed)
		return;
	while (i + 4 <= n) {
		unsigned four = *codes;

		if (i + 32 <= n && !get_u64(codes)) {
			for (int j = 0; j < 32; j++)
				values[i + j] = low[i + j];
			i += 32;
			codes += 8;
			continue;
		}
		for (int j = 0; j < 4; j++)
			high = get_one(&values[i + j], high, low[i + j],
				       four >> 2 * j & 3);
		i += 4;
		codes++;
	}
	for (; i < n; i++)
		high = get_one(&values[i], high, low[i],
			       *codes >> 2 * (i & 3) & 3);
}
