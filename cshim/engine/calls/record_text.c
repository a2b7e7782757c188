/* SPDX-License-Identifier: MIT
 *
 * A signal handler may come between the pieces of a text and bring one of its
 * own, which is taken before the rest of the first one comes: so what is taken
 * is the end.
 */
#include "calls/record_text.h"

#include <stdlib.h>

enum { TEXT_SIZE = 4096 };

void record_text_add(struct thread *t, const struct cst_record *r)
{
	uint64_t halves[] = {cst_record_sp(r), cst_record_fp(r)};

	if (!t->text)
		t->text = malloc(TEXT_SIZE);
	if (!t->text)
		return;
	/* What was never taken is nobody's. */
	if (t->n_text > TEXT_SIZE - CST_TEXT_BYTES)
		t->n_text = 0;
	for (int i = 0; i < CST_TEXT_BYTES; i++)
		t->text[t->n_text++] =
			(char)(halves[i / 6] >> (i % 6 * 8) & 0xff);
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
