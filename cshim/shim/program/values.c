/* SPDX-License-Identifier: MIT
 *
 * Texts are copied here and now, for the program may change them; a message's
 * only as far as printf would read them: "%.3s" may have no NUL.
 */
#include "program/values.h"
#include "cstrace/layout.h"

enum { VARINT_MAX = 10 };

struct out {
	uint8_t *at, *end;
};

static void put_byte(struct out *o, uint8_t byte)
{
	*o->at++ = byte;
}

static void put_varint(struct out *o, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(o, (uint8_t)(v | 0x80));
	put_byte(o, (uint8_t)v);
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? ~0ull : 0);
}

static void put_text(struct out *o, const struct cstrace_value *v,
		     uint32_t limit)
{
	const char *text = (const char *)v->bits;
	uint32_t all = v->size < limit ? v->size : limit;
	uint64_t room = (uint64_t)(o->end - o->at);
	uint32_t n = 0, most = all;

	if (most > CST_VALUE_TEXT_MAX)
		most = CST_VALUE_TEXT_MAX;
	if (room < 1 + VARINT_MAX)
		return;
	if (most > room - 1 - VARINT_MAX)
		most = (uint32_t)(room - 1 - VARINT_MAX);
	while (n < most && (v->size != UINT32_MAX || text[n]))
		n++;
	/* Where a text has an end of its own, it is cut if that is not here. */
	put_byte(o, n < all && (v->size != UINT32_MAX || text[n])
			    ? CST_VALUE_CUT_TEXT
			    : CST_VALUE_TEXT);
	put_varint(o, n);
	for (uint32_t i = 0; i < n; i++)
		put_byte(o, (uint8_t)text[i]);
}

static void put_value(struct out *o, const struct cstrace_value *v,
		      uint32_t limit)
{
	if (v->tag == CST_VALUE_TEXT) {
		put_text(o, v, limit);
		return;
	}
	if (o->end - o->at < 1 + VARINT_MAX)
		return;
	put_byte(o, (uint8_t)v->tag);
	switch (v->tag) {
	case CST_VALUE_INT:
		put_varint(o, zigzag(v->bits));
		break;
	case CST_VALUE_UINT:
	case CST_VALUE_HEX:
	case CST_VALUE_POINTER:
		put_varint(o, v->bits);
		break;
	case CST_VALUE_FLOAT:
		for (int i = 0; i < 8; i++)
			put_byte(o, (uint8_t)(v->bits >> (8 * i)));
		break;
	case CST_VALUE_CHAR:
	case CST_VALUE_BOOL:
		put_byte(o, (uint8_t)v->bits);
		break;
	case CST_VALUE_NULL:
	case CST_VALUE_BAD:
		break;
	default:
		o->at[-1] = CST_VALUE_BAD;
		break;
	}
}

/* ---- formats ----------------------------------------------------------------
 */

static int is_in(char c, const char *set)
{
	while (*set && *set != c)
		set++;
	return *set != 0;
}

/* A message's format, read along with its values. */
struct format {
	const char *at;	   /* NULL: there is none */
	int is_within;	   /* a conversion has begun */
	int has_precision; /* and a '.' was read */
	uint32_t precision;
};

/* Reads on to what takes the next value: a '*' or a conversion's letter.
 * Returns that, or 0 at the end. */
static char format_next(struct format *f)
{
	for (; *f->at; f->at++) {
		char c = *f->at;

		if (!f->is_within) {
			f->is_within = c == '%';
			f->has_precision = 0;
			f->precision = 0;
		} else if (c == '.') {
			f->has_precision = 1;
		} else if (c == '*') {
			f->at++;
			return c;
		} else if (c >= '0' && c <= '9') {
			if (f->has_precision && f->precision < UINT16_MAX)
				f->precision =
					f->precision * 10 + (uint32_t)(c - '0');
		} else if (!is_in(c, "-+ #\'hlqjztL")) {
			f->at++;
			f->is_within = 0;
			if (c != '%' && c != 'm') /* which take none */
				return c;
			f->has_precision = 0;
			f->at--;
		}
	}
	return 0;
}

/* The most bytes of the next value, if it is a text. */
static uint32_t format_limit(struct format *f, const struct cstrace_value *v)
{
	char c = f->at ? format_next(f) : 0;

	if (c == '*' && f->has_precision) {
		/* A negative one is none. */
		f->has_precision = (int64_t)v->bits >= 0;
		f->precision =
			v->bits < UINT16_MAX ? (uint32_t)v->bits : UINT16_MAX;
	}
	return c == 's' && f->has_precision ? f->precision : UINT32_MAX;
}

uint32_t values_put(const struct cstrace_value *values, uint32_t n,
		    const char *format, uint8_t *out)
{
	struct out o = {out, out + CST_VALUES_MAX};
	struct format f = {.at = format};

	for (uint32_t i = 0; i < n; i++)
		put_value(&o, &values[i], format_limit(&f, &values[i]));
	return (uint32_t)(o.at - out);
}
