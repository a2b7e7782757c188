/* SPDX-License-Identifier: MIT
 *
 * A place's text is put into the area once, with its first record.
 */
#include "program/place.h"
#include "core/area.h"
#include "core/signals.h"
#include "kernel/lock.h"

enum {
	/* Bytes of each of its parts. */
	PART_MAX = 1024,
	TEXT_MAX = 4 * PART_MAX + 64,
	/* The rest of the area's text is for mappings. */
	TEXTS_END = CST_TEXT_SIZE / 4 * 3,
	NO_ROOM = -1,
};

struct text {
	char bytes[TEXT_MAX];
	uint32_t n;
};

static void put(struct text *t, const char *part, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		t->bytes[t->n++] = part[i];
	t->bytes[t->n++] = 0;
}

static uint32_t length_of(const char *part)
{
	uint32_t n = 0;

	while (part && n < PART_MAX && part[n])
		n++;
	return n;
}

static void put_number(struct text *t, uint64_t number, uint32_t base)
{
	char digits[20];
	uint32_t n = sizeof(digits);

	do {
		digits[--n] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	put(t, digits + n, sizeof(digits) - n);
}

/* Under the lock. */
static int64_t place_add(const struct cstrace_place *p, uint64_t code)
{
	static struct text t;

	t.n = 0;
	put(&t, p->name, length_of(p->name));
	put(&t, p->file, length_of(p->file));
	put_number(&t, p->line, 10);
	put(&t, p->function, length_of(p->function));
	put(&t, p->values, length_of(p->values));
	put_number(&t, code, 16);
	return area_text(t.bytes, t.n, TEXTS_END);
}

static COLD void place_intern(struct cstrace_place *p, uint64_t code)
{
	uint64_t mask = signals_block();

	lock_take();
	if (!p->text) {
		int64_t at = place_add(p, code);

		__atomic_store_n(&p->text,
				 at < 0 ? (uint32_t)NO_ROOM : (uint32_t)at + 1,
				 __ATOMIC_RELEASE);
	}
	lock_drop();
	signals_restore(mask);
}

uint64_t place_text(struct cstrace_place *p, uint64_t code)
{
	uint32_t text = __atomic_load_n(&p->text, __ATOMIC_ACQUIRE);

	if (unlikely(!text)) {
		place_intern(p, code);
		text = p->text;
	}
	return text == (uint32_t)NO_ROOM ? 0 : text;
}
