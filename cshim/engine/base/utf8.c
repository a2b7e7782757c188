/* SPDX-License-Identifier: MIT
 *
 * Decodes UTF-8 and escapes what a terminal must not get: control characters,
 * invalid bytes, and characters that change the direction of text.
 */
#include "base/utf8.h"

#include <string.h>

int utf8_decode(const char *text, uint32_t *out)
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

	return utf8_decode(p, &c);
}

/* Controls, and what turns text around, joins or has no width: a name with one
 * of them looks like another. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x0, 0x1f},	  {0x7f, 0x9f},	      {0xad, 0xad},
	{0x34f, 0x34f},	  {0x61c, 0x61c},     {0x115f, 0x1160},
	{0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},
	{0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
	{0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

int utf8_printable(const char *p)
{
	uint32_t c = 0;
	int len = utf8_decode(p, &c);

	if (len && c >= 0x20 && c < 0x7f)
		return len;
	for (unsigned i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return 0;
	return len;
}

static char *put_escaped_byte(char *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex[c >> 4];
	out[3] = hex[c & 15];
	return out + 4;
}

char *utf8_put(char *out, const char *text, unsigned room)
{
	const char *end = out + room;

	while (*text) {
		int valid = utf8_length(text);
		int len = utf8_printable(text);

		/* What is one character is escaped or kept as a whole. */
		if (end - out < (valid ? valid : 1) * 4 + 3) {
			memcpy(out, "...", 3);
			return out + 3;
		}
		if (len) {
			memcpy(out, text, (size_t)len);
			out += len;
			text += len;
			continue;
		}
		for (int i = 0; i < (valid ? valid : 1); i++)
			out = put_escaped_byte(out, (unsigned char)*text++);
	}
	return out;
}
