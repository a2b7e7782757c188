/* SPDX-License-Identifier: MIT
 *
 * A list of slabs, and an open-addressed table of the strings in them.
 */
#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_SIZE = 65536, FIRST_SLOTS = 256 };

struct slab {
	struct slab *next;
	size_t used, size;
	char bytes[];
};

struct slot {
	const char *text;
	uint32_t hash;
	uint32_t len;
};

struct arena {
	struct slab *slabs;
	struct slot *slots;
	size_t n_strings, n_slots; /* n_slots: a power of two, or 0 */
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->slabs) {
		struct slab *next = a->slabs->next;

		free(a->slabs);
		a->slabs = next;
	}
	free(a->slots);
	free(a);
}

static struct slab *slab_add(struct arena *a, size_t size)
{
	struct slab *s = malloc(sizeof(*s) + size);

	if (!s)
		return NULL;
	s->used = 0;
	s->size = size;
	/* What is too large for a slab gets its own, behind the one in use. */
	if (a->slabs && size > SLAB_SIZE) {
		s->next = a->slabs->next;
		a->slabs->next = s;
	} else {
		s->next = a->slabs;
		a->slabs = s;
	}
	return s;
}

/* Room for so many bytes of text. */
static char *arena_room(struct arena *a, size_t size)
{
	struct slab *s = a->slabs;
	char *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (!s || s->size - s->used < size)
		s = slab_add(a, size > SLAB_SIZE ? size : SLAB_SIZE);
	if (!s)
		return NULL;
	p = s->bytes + s->used;
	s->used += size;
	return p;
}

static uint32_t hash_text(const char *text, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h ^ h >> 15;
}

static struct slot *slot_find(struct arena *a, const char *text, size_t len,
			      uint32_t hash)
{
	size_t mask = a->n_slots - 1;
	size_t i = hash & mask;

	for (;; i = (i + 1) & mask) {
		struct slot *s = &a->slots[i];

		if (!s->text)
			return s;
		if (s->hash == hash && s->len == len &&
		    !memcmp(s->text, text, len))
			return s;
	}
}

static int slots_grow(struct arena *a)
{
	size_t n = a->n_slots ? a->n_slots * 2 : FIRST_SLOTS;
	struct slot *old = a->slots;
	size_t n_old = a->n_slots;
	struct slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return CST_MEMORY;
	a->slots = slots;
	a->n_slots = n;
	for (size_t i = 0; i < n_old; i++) {
		struct slot *s = &old[i];

		if (s->text)
			*slot_find(a, s->text, s->len, s->hash) = *s;
	}
	free(old);
	return 0;
}

const char *arena_intern(struct arena *a, const char *text, size_t len)
{
	uint32_t hash = hash_text(text, len);
	struct slot *s;
	char *copy;

	if (len > UINT32_MAX / 2)
		return NULL;
	if (a->n_strings * 4 >= a->n_slots * 3 && slots_grow(a) < 0)
		return NULL;
	s = slot_find(a, text, len, hash);
	if (s->text)
		return s->text;
	copy = arena_room(a, len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*s = (struct slot){copy, hash, (uint32_t)len};
	a->n_strings++;
	return copy;
}
