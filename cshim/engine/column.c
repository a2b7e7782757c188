/* SPDX-License-Identifier: MIT */
#include "column.h"

static const uint8_t more[4] = {0, 1, 3, 7};
static const uint64_t mask[4] = {0, 0xff, 0xffffff, 0xffffffffffffff};

static inline unsigned code_of(uint64_t v)
{
	return (unsigned)(v > 0xff) + (v > 0xffff) + (v > 0xffffffff);
}

size_t column_put(uint8_t *out, const uint64_t *values, uint32_t n)
{
	uint8_t *codes = out;
	uint8_t *low = codes + (n + 3) / 4;
	uint8_t *high = low + n;

	for (uint32_t i = 0; i < n; i += 4) {
		uint32_t left = n - i < 4 ? n - i : 4;
		unsigned four = 0;

		for (uint32_t j = 0; j < left; j++) {
			uint64_t v = values[i + j];
			unsigned code = code_of(v);

			low[i + j] = (uint8_t)v;
			put_u64(high, v >> 8);
			high += more[code];
			four |= code << 2 * j;
		}
		*codes++ = (uint8_t)four;
	}
	return (size_t)(high - out);
}

/* How many bytes lie in the third run, for each byte of codes. */
static size_t high_size(const uint8_t *codes, uint32_t n)
{
	size_t size = 0;

	for (uint32_t i = 0; i < n; i++)
		size += (size_t)more[codes[i] & 3] + more[codes[i] >> 2 & 3] +
			more[codes[i] >> 4 & 3] + more[codes[i] >> 6];
	return size;
}

static inline const uint8_t *get_one(uint64_t *v, const uint8_t *high,
				     uint8_t low, unsigned code)
{
	*v = low | (get_u64(high) & mask[code]) << 8;
	return high + more[code];
}

void column_get(struct cursor *c, uint64_t *values, uint32_t n)
{
	size_t n_codes = (n + 3) / 4, left = (size_t)(c->end - c->p);
	const uint8_t *codes = c->p, *low = codes + n_codes, *high = low + n;
	uint32_t i = 0;

	if (c->failed || left < n_codes + n ||
	    left - n_codes - n < high_size(codes, (uint32_t)n_codes)) {
		c->failed = 1;
		return;
	}
	for (; i + 4 <= n; i += 4) {
		unsigned four = *codes++;

		if (!four) {
			for (int j = 0; j < 4; j++)
				values[i + j] = low[i + j];
			continue;
		}
		for (int j = 0; j < 4; j++)
			high = get_one(&values[i + j], high, low[i + j],
				       four >> 2 * j & 3);
	}
	for (; i < n; i++)
		high = get_one(&values[i], high, low[i],
			       *codes >> 2 * (i & 3) & 3);
	c->p = high;
}
