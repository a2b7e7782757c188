/* SPDX-License-Identifier: MIT
 *
 * Growing bytes to write into, and a cursor that reads bytes from a file
 * without ever leaving them.  Numbers of unknown size are varints: seven bits
 * a byte, the lowest first, the top bit set on all but the last.
 */
#ifndef ENGINE_BYTES_H
#define ENGINE_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	uint8_t *data;
	size_t len, cap;
	int failed; /* out of memory: nothing more is kept */
};

/* Does the rest of bytes_reserve() where the memory must grow. */
uint8_t *bytes_grow(struct bytes *b, size_t n);

/* Makes room for n more bytes and returns where they go; the caller fills them
 * and adds to b->len what it used.  Returns NULL when out of memory, and sets
 * b->failed. */
static inline uint8_t *bytes_reserve(struct bytes *b, size_t n)
{
	return __builtin_expect(n <= b->cap - b->len && !b->failed, 1)
		       ? b->data + b->len
		       : bytes_grow(b, n);
}

/* Frees the memory and zeroes b, which may be used again.  A zeroed struct
 * bytes is empty and needs no other preparation. */
void bytes_release(struct bytes *b);

/* The bytes_put functions append to b.  When out of memory they set b->failed
 * and append nothing; callers look at failed once, at the end. */
void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_put_byte(struct bytes *b, uint8_t v);
void bytes_put_varint(struct bytes *b, uint64_t v);
/* Appends a varint of the length + 1 and the bytes of text, which is cut at
 * BYTES_TEXT_MAX; appends one 0 byte when text is NULL. */
void bytes_put_text(struct bytes *b, const char *text);
/* Appends the formatted text without a NUL, cut at 255 bytes. */
void bytes_put_format(struct bytes *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

enum { BYTES_TEXT_MAX = 65535 };

struct cursor {
	const uint8_t *p, *end;
	int failed; /* something was wrong; all later reads give 0 */
};

/* The cursor functions read the next item and advance p.  They return 0 and set
 * c->failed when the bytes do not suffice. */
uint8_t cursor_byte(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
/* Reads a varint, and fails the cursor if it is above max. */
uint64_t cursor_varint_max(struct cursor *c, uint64_t max);
/* Reads what bytes_put_text() wrote.  Returns a pointer into the bytes that are
 * read, not NUL-terminated, and sets *len; returns NULL for a NULL that was
 * written or on failure. */
const char *cursor_text(struct cursor *c, size_t *len);

static inline void put_u32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline void put_u64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

#endif
