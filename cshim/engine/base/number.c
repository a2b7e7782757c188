/* SPDX-License-Identifier: MIT
 *
 * Digits come in pairs from a table: a division by 100 each.
 */
#include "base/number.h"

#include <string.h>

static const char pairs[201] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

/* The digits of v end just before `end`. */
static void digits_before(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
}

static unsigned count_digits(uint64_t v)
{
	static const uint64_t tens[20] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	/* 1233 / 4096 is log10(2): right, or one too many. */
	unsigned guess = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (v >= tens[guess]);
}

/* The digits are written where they stay: copying them from elsewhere makes
 * the processor wait for its own small stores. */
char *number_put(char *p, uint64_t v)
{
	char *end = p + count_digits(v);

	digits_before(end, v);
	return end;
}

char *number_put_wide(char *p, uint64_t v, unsigned width)
{
	unsigned len = count_digits(v);

	for (; width > len; width--)
		*p++ = ' ';
	return number_put(p, v);
}

char *number_put_digits(char *p, uint32_t v, unsigned width)
{
	char *end = p + width;

	for (; width > 1; width -= 2, v /= 100)
		memcpy(p + width - 2, pairs + v % 100 * 2, 2);
	if (width)
		*p = (char)('0' + v);
	return end;
}

static void put_six(char *p, uint32_t v)
{
	memcpy(p, pairs + v / 10000 * 2, 2);
	memcpy(p + 2, pairs + v / 100 % 100 * 2, 2);
	memcpy(p + 4, pairs + v % 100 * 2, 2);
}

char *number_put_seconds(char *p, uint64_t ns)
{
	uint64_t us = ns / 1000;
	uint64_t s = us / 1000000;

	if (s < 10) {
		memcpy(p, "   ", 3);
		p[3] = (char)('0' + s);
		p += 4;
	} else {
		p = number_put_wide(p, s, 4);
	}
	*p = '.';
	put_six(p + 1, (uint32_t)(us - s * 1000000));
	return p + 7;
}

/* thousandths / 1000, three decimals: 7 columns. */
static void put_scaled(char *p, uint32_t thousandths, const char *unit)
{
	uint32_t whole = thousandths / 1000, rest = thousandths % 1000;

	p[0] = whole >= 100 ? (char)('0' + whole / 100) : ' ';
	p[1] = whole >= 10 ? (char)('0' + whole / 10 % 10) : ' ';
	p[2] = (char)('0' + whole % 10);
	p[3] = '.';
	p[4] = (char)('0' + rest / 100);
	memcpy(p + 5, pairs + rest % 100 * 2, 2);
	memcpy(p + 7, unit, 3);
}

static char *put_long(char *p, uint64_t ns)
{
	uint64_t ms = ns / 1000000;

	if (ms >= 10000000) {
		p = number_put_wide(p, ms / 1000, 8);
	} else {
		p = number_put_wide(p, ms / 1000, 4);
		*p++ = '.';
		p = number_put_digits(p, (uint32_t)(ms % 1000), 3);
	}
	memcpy(p, " s", 2);
	return p + 2;
}

char *number_put_duration(char *p, uint64_t ns)
{
	if (ns < 1000) {
		memset(p, ' ', 4);
		p[4] = ns >= 100 ? (char)('0' + ns / 100) : ' ';
		p[5] = ns >= 10 ? (char)('0' + ns / 10 % 10) : ' ';
		p[6] = (char)('0' + ns % 10);
		memcpy(p + 7, " ns", 3);
	} else if (ns < 1000000) {
		put_scaled(p, (uint32_t)ns, " us");
	} else if (ns < 1000000000) {
		put_scaled(p, (uint32_t)(ns / 1000), " ms");
	} else {
		return put_long(p, ns);
	}
	return p + NUMBER_DURATION;
}
