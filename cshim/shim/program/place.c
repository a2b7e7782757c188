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

static int is_before(const char *text, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (text[i] != name[i])
			return 0;
	return text[n] == '(';
}

/* Puts the name with its classes and namespaces, if C++ has them in the
 * function's: "int ns::Shop::buy(int)". */
static void put_name(struct text *t, const struct cstrace_place *p)
{
	uint32_t n = length_of(p->name), all = length_of(p->function), at, from;
	int depth = 0;

	for (at = 0; at < all && !is_before(p->function + at, p->name, n); at++)
		;
	for (from = at; at < all && from; from--) {
		char c = p->function[from - 1];

		depth += (c == '>') - (c == '<');
		if (!depth && (c == ' ' || c == '*' || c == '&'))
			break;
	}
	if (at < all && at > from + 2 && p->function[at - 1] == ':')
		put(t, p->function + from, at - from + n);
	else
		put(t, p->name, n);
}

/* Under the lock. */
static int64_t place_add(const struct cstrace_place *p, uint64_t code,
			 int is_call)
{
	static struct text t;

	t.n = 0;
	if (is_call)
		put_name(&t, p);
	else
		put(&t, p->name, length_of(p->name));
	put(&t, p->file, length_of(p->file));
	put_number(&t, p->line, 10);
	put(&t, p->function, length_of(p->function));
	put(&t, p->values, length_of(p->values));
	put_number(&t, code, 16);
	return area_text(t.bytes, t.n, TEXTS_END);
}

static COLD void place_intern(struct cstrace_place *p, uint64_t code,
			      int is_call)
{
	uint64_t mask = signals_block();

	lock_take();
	if (!p->text) {
		int64_t at = place_add(p, code, is_call);

		__atomic_store_n(&p->text,
				 at < 0 ? (uint32_t)NO_ROOM : (uint32_t)at + 1,
				 __ATOMIC_RELEASE);
	}
	lock_drop();
	signals_restore(mask);
}

uint64_t place_text(struct cstrace_place *p, uint64_t code, int is_call)
{
	uint32_t text = __atomic_load_n(&p->text, __ATOMIC_ACQUIRE);

	if (unlikely(!text)) {
		place_intern(p, code, is_call);
		text = p->text;
	}
	return text == (uint32_t)NO_ROOM ? 0 : text;
}
