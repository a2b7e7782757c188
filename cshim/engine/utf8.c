/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <stdint.h>

static int decode(const char *text, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	int len = *p < 0x80   ? 1
		  : *p < 0xc2 ? 0
		  : *p < 0xe0 ? 2
		  : *p < 0xf0 ? 3
		  : *p < 0xf5 ? 4
			      : 0;
	uint32_t c = len == 1 ? *p : *p & (0x7fu >> len);

	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (len > 1 &&
	    (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff))
		return 0;
	*out = c;
	return len;
}

int utf8_length(const char *p)
{
	uint32_t c;

	return decode(p, &c);
}

int utf8_printable(const char *p)
{
	uint32_t c = 0;
	int len = decode(p, &c);

	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return 0;
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069) || c == 0xfeff)
		return 0;
	return len;
}
