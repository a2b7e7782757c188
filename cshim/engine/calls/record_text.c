/* SPDX-License-Identifier: MIT
 *
 * A signal handler may come between the pieces of a text and bring one of its
 * own, which is taken before the rest of the first one comes: so what is taken
 * is the end.
 */
#include "calls/record_text.h"

#include "sites/copies.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 4096 };

/* Byte i of the 12 of a record. */
static uint8_t byte_of(const struct cst_record *r, uint32_t i)
{
	uint64_t half = i < 6 ? cst_record_sp(r) : cst_record_fp(r);

	return (uint8_t)(half >> (i % 6 * 8));
}

void record_text_add(struct thread *t, const struct cst_record *r)
{
	if (!t->text)
		t->text = malloc(TEXT_SIZE);
	if (!t->text)
		return;
	/* What was never taken is nobody's. */
	if (t->n_text > TEXT_SIZE - CST_TEXT_BYTES)
		t->n_text = 0;
	for (uint32_t i = 0; i < CST_TEXT_BYTES; i++)
		t->text[t->n_text++] = (char)byte_of(r, i);
}

const char *record_text_take(struct thread *t, uint64_t n)
{
	const char *text;
	uint32_t whole;

	if (!n || n > t->n_text)
		return NULL;
	text = t->text + t->n_text - n;
	whole = ((uint32_t)n + CST_TEXT_BYTES - 1) / CST_TEXT_BYTES *
		CST_TEXT_BYTES;
	t->n_text -= whole < t->n_text ? whole : t->n_text;
	return text;
}

void record_raw_take(struct thread *t, const struct cst_record *r)
{
	uint32_t n = byte_of(r, 0), n_before = 0;
	const char *before;
	uint64_t rest[2];

	t->n_raw = 0;
	if (n > CST_RAW_MAX)
		return;
	if (n > CST_VALUES_BYTES) {
		n_before = (n - CST_VALUES_BYTES + CST_TEXT_BYTES - 1) /
			   CST_TEXT_BYTES * CST_TEXT_BYTES;
		before = record_text_take(t, n_before);
		if (!before)
			return;
		memcpy(t->raw, before, n_before);
	}
	rest[0] = cst_record_sp(r) >> 8 | cst_record_fp(r) << 40;
	rest[1] = cst_record_fp(r) >> 24;
	memcpy(t->raw + n_before, rest, n - n_before);
	t->n_raw = (uint8_t)n;
}

void record_raw_unpack(const struct sites *s, struct thread *t,
		       const struct cst_record *r)
{
	t->n_raw = (uint8_t)copies_unpack(s, cst_record_site(r),
					  cst_record_fp(r), t->raw);
}

void record_raw_decode(struct sites *s, struct thread *t, uint32_t number,
		       struct bytes *out)
{
	if (s->all[number].is_copied || s->all[number].is_static)
		copies_decode(s, number, t->raw, t->n_raw, out);
	t->n_raw = 0;
}
