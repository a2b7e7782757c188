/* SPDX-License-Identifier: MIT
 *
 * A signal handler may come between the pieces of a text and bring one of its
 * own, which is taken before the rest of the first one comes: so what is taken
 * is the end.
 */
#include "calls/record_text.h"

#include "sites/copies.h"

#include <stdlib.h>

enum { TEXT_SIZE = 4096, AT_ONCE = 16 };

/* Writes AT_ONCE bytes behind the text.  Returns 0 when out of memory. */
static inline int put_behind(struct thread *t, uint64_t low, uint64_t high)
{
	if (__builtin_expect(!t->text, 0)) {
		t->text = malloc(TEXT_SIZE + AT_ONCE);
		if (!t->text)
			return 0;
	}
	put_u64(t->text + t->n_text, low);
	put_u64(t->text + t->n_text + 8, high);
	return 1;
}

void record_text_add(struct thread *t, const struct cst_record *r)
{
	uint64_t rest = cst_record_fp(r);

	/* What was never taken is nobody's. */
	if (t->n_text > TEXT_SIZE - CST_TEXT_BYTES)
		t->n_text = 0;
	if (put_behind(t, cst_record_sp(r) | rest << 48, rest >> 16))
		t->n_text += CST_TEXT_BYTES;
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
	uint64_t sp = cst_record_sp(r), fp = cst_record_fp(r);
	uint32_t n = sp & 0xff, n_before = 0;

	t->n_raw = 0;
	if (n > CST_VALUES_BYTES)
		n_before = (n - CST_VALUES_BYTES + CST_TEXT_BYTES - 1) /
			   CST_TEXT_BYTES * CST_TEXT_BYTES;
	if (n > CST_RAW_MAX || n_before > t->n_text ||
	    !put_behind(t, sp >> 8 | fp << 40, fp >> 24))
		return;
	t->n_text -= n_before;
	t->raw = (const uint8_t *)t->text + t->n_text;
	t->n_raw = (uint8_t)n;
}

void record_raw_unpack(const struct sites *s, struct thread *t,
		       const struct cst_record *r)
{
	t->n_raw = (uint8_t)copies_unpack(s, cst_record_site(r),
					  cst_record_fp(r), t->numbers);
	t->raw = t->numbers;
}

void record_raw_decode(struct sites *s, struct thread *t, uint32_t number,
		       struct bytes *out)
{
	if (s->all[number].is_copied || s->all[number].is_static)
		copies_decode(s, number, t->raw, t->n_raw, out);
	t->n_raw = 0;
}
