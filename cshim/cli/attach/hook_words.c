/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernel writes, past the pages' protection: most of these words are in a
 * part of the file that is read-only once it is bound.
 */
#include "attach/hook_words.h"
#include "base/array.h"
#include "cstrace/engine.h"

#include <stdlib.h>

enum { MOST_SLOTS = 64 };

static int is_known(const struct hook_words *known, uint64_t address)
{
	for (uint32_t i = 0; known && i < known->n; i++)
		if (known->all[i].address == address && known->all[i].new)
			return 1;
	return 0;
}

void hook_words_forget(struct hook_words *w, const struct tracee *t)
{
	uint64_t now;

	for (uint32_t i = 0; i < w->n; i++)
		if (!tracee_read(t, w->all[i].address, &now, sizeof(now)) ||
		    now != w->all[i].new)
			w->all[i].new = 0;
}

int hook_words_find(struct hook_words *w, const struct remote_modules *m,
		    const struct hook_words *known)
{
	*w = (struct hook_words){0};
	for (uint32_t i = 0; i < m->n; i++) {
		struct cst_hook_slot slots[MOST_SLOTS];
		int n = 0;

		if (m->all[i].kind == MODULE_OWN ||
		    m->all[i].kind == MODULE_ALLOCATOR)
			n = cst_hook_slots(m->all[i].path, slots, MOST_SLOTS);
		for (int k = 0; k < n && k < MOST_SLOTS; k++) {
			if (is_known(known, slots[k].address + m->all[i].bias))
				continue;
			if (array_room(&w->all, &w->cap, w->n + 1ull) < 0)
				return 0;
			w->all[w->n++] = (struct hook_word){
				.address = slots[k].address + m->all[i].bias,
				.is_exit = slots[k].is_exit};
		}
	}
	return 1;
}

int hook_words_join(struct hook_words *w, struct hook_words *more)
{
	if (array_room(&w->all, &w->cap, w->n + (uint64_t)more->n) < 0)
		return 0;
	for (uint32_t i = 0; i < more->n; i++)
		w->all[w->n++] = more->all[i];
	hook_words_release(more);
	return 1;
}

void hook_words_release(struct hook_words *w)
{
	free(w->all);
	*w = (struct hook_words){0};
}

void hook_words_write(struct hook_words *w, const struct tracee *t,
		      uint64_t entry, uint64_t exit)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct hook_word *one = &w->all[i];
		uint64_t new = one->is_exit ? exit : entry;

		if (tracee_read(t, one->address, &one->old, sizeof(one->old)) &&
		    one->old != new &&tracee_write(t, one->address, &new,
						   sizeof(new)))
			one->new = new;
	}
}

void hook_words_restore(const struct hook_words *w, const struct tracee *t)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct hook_word *one = &w->all[i];
		uint64_t now;

		/* A library may have gone, and another come. */
		if (one->new &&tracee_read(t, one->address, &now,
					   sizeof(now)) &&
		    now == one->new)
			tracee_write(t, one->address, &one->old,
				     sizeof(one->old));
	}
}

int hook_words_are_led(const struct hook_words *w, const struct tracee *t)
{
	uint64_t now;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->all[i].new)
			return tracee_read(t, w->all[i].address, &now,
					   sizeof(now)) &&
			       now == w->all[i].new;
	return 0;
}
