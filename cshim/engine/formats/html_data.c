/* SPDX-License-Identifier: MIT
 *
 * Packs a piece of data with zstd and base64 into an element of the page.
 */
#include "formats/html_data.h"
#include "base/error.h"

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 3 };

/* The largest whole number of a page's kind of number. */
#define NUMBER_MAX ((UINT64_C(1) << 53) - 1)

void html_put_number(struct bytes *out, uint64_t v)
{
	bytes_put_varint(out, v > NUMBER_MAX ? NUMBER_MAX : v);
}

static void put_base64(struct bytes *out, const uint8_t *in, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
				     "pqrstuvwxyz0123456789+/";
	char *p = (char *)bytes_reserve(out, n / 3 * 4 + 4), *begin = p;

	if (!p)
		return;
	for (; n >= 3; n -= 3, in += 3) {
		uint32_t v = (uint32_t)in[0] << 16 | in[1] << 8 | in[2];

		*p++ = digits[v >> 18];
		*p++ = digits[v >> 12 & 63];
		*p++ = digits[v >> 6 & 63];
		*p++ = digits[v & 63];
	}
	if (n) {
		uint32_t v = (uint32_t)in[0] << 16 | (n > 1 ? in[1] << 8 : 0);

		*p++ = digits[v >> 18];
		*p++ = digits[v >> 12 & 63];
		*p++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*p++ = '=';
	}
	out->len += (size_t)(p - begin);
}

int html_data_put(struct bytes *out, const char *kind, const struct bytes *raw)
{
	size_t room = ZSTD_compressBound(raw->len);
	auto_free uint8_t *packed = malloc(room);
	size_t n;

	if (!packed || raw->failed)
		return CST_MEMORY;
	n = ZSTD_compress(packed, room, raw->data, raw->len, LEVEL);
	if (ZSTD_isError(n))
		return CST_MEMORY;
	bytes_put(out, "<script type=\"text/x-cstrace\" class=\"", 37);
	bytes_put(out, kind, strlen(kind));
	bytes_put(out, "\">", 2);
	put_base64(out, packed, n);
	bytes_put(out, "</script>\n", 10);
	return out->failed ? CST_MEMORY : 0;
}
