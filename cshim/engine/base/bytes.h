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

/* Room for n more; NULL: out of memory (kept in failed). The caller advances
 * len by what it used. */
uint8_t *bytes_reserve(struct bytes *b, size_t n);
void bytes_release(struct bytes *b);

void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_put_byte(struct bytes *b, uint8_t v);
void bytes_put_varint(struct bytes *b, uint64_t v);
/* Length + 1 and the bytes, cut at BYTES_TEXT_MAX; 0 for NULL. */
void bytes_put_text(struct bytes *b, const char *text);
/* At most 255 bytes, cut. */
void bytes_put_format(struct bytes *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

enum { BYTES_TEXT_MAX = 65535 };

struct cursor {
	const uint8_t *p, *end;
	int failed; /* something was wrong; all later reads give 0 */
};

uint8_t cursor_byte(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
/* A varint above max fails. */
uint64_t cursor_varint_max(struct cursor *c, uint64_t max);
/* Borrowed from what is read, not terminated; NULL for NULL or a failure. */
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
