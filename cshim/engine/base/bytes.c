/* SPDX-License-Identifier: MIT
 *
 * Appends bytes, varints and texts to growing memory, and reads them back from
 * memory that is not trusted.
 */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint8_t *bytes_grow(struct bytes *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *p;

	if (b->failed)
		return NULL;
	while (cap - b->len < n && cap <= SIZE_MAX / 4)
		cap *= 2;
	p = cap - b->len < n ? NULL : realloc(b->data, cap);
	if (!p) {
		b->failed = 1;
		return NULL;
	}
	b->data = p;
	b->cap = cap;
	return p + b->len;
}

void bytes_release(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

void bytes_put(struct bytes *b, const void *data, size_t n)
{
	uint8_t *p = bytes_reserve(b, n);

	if (!p || !n)
		return;
	memcpy(p, data, n);
	b->len += n;
}

void bytes_put_byte(struct bytes *b, uint8_t v)
{
	bytes_put(b, &v, 1);
}

void bytes_put_varint(struct bytes *b, uint64_t v)
{
	uint8_t text[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		text[n++] = (uint8_t)(v | 0x80);
	text[n++] = (uint8_t)v;
	bytes_put(b, text, n);
}

void bytes_put_text(struct bytes *b, const char *text)
{
	size_t len;

	if (!text) {
		bytes_put_byte(b, 0);
		return;
	}
	len = strnlen(text, BYTES_TEXT_MAX);
	bytes_put_varint(b, len + 1);
	bytes_put(b, text, len);
}

uint8_t cursor_byte(struct cursor *c)
{
	if (c->failed || c->p == c->end) {
		c->failed = 1;
		return 0;
	}
	return *c->p++;
}

uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_byte(c);

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return c->failed ? 0 : v;
	}
	c->failed = 1;
	return 0;
}

uint64_t cursor_varint_max(struct cursor *c, uint64_t max)
{
	uint64_t v = cursor_varint(c);

	if (v <= max)
		return v;
	c->failed = 1;
	return 0;
}

const char *cursor_text(struct cursor *c, size_t *len)
{
	uint64_t n = cursor_varint_max(c, BYTES_TEXT_MAX + 1);
	const char *text = (const char *)c->p;

	*len = 0;
	if (!n)
		return NULL;
	n--;
	if (n > (uint64_t)(c->end - c->p)) {
		c->failed = 1;
		return NULL;
	}
	c->p += n;
	*len = n;
	return text;
}

void bytes_put_format(struct bytes *b, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	bytes_put(b, text, strlen(text));
}
