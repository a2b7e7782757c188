/* SPDX-License-Identifier: MIT
 *
 * The compiler's hooks: functions that call them report their calls already.
 */
#ifndef ENGINE_PLAN_HOOKS_H
#define ENGINE_PLAN_HOOKS_H

#include "plan/functions.h"

enum { HOOKS_MAX = 8 };

/* Where the hooks, the linker's stubs for them, and the words with their
 * addresses are. */
struct hooks {
	uint64_t places[HOOKS_MAX];
	uint8_t kinds[HOOKS_MAX]; /* CST_ENTER or CST_EXIT */
	uint32_t n;
};

/* Finds these places, and sets is_hooked of functions that are hooks. */
void hooks_find(struct hooks *h, const struct image *im, struct functions *f);

/* Returns the kind of the hook at that address, or 0 if none is there. */
static inline int hooks_kind(const struct hooks *h, uint64_t addr)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->places[i] == addr)
			return h->kinds[i];
	return 0;
}

/* Calls hear with the return address and the kind of each call of a hook in the
 * image's code, by address, until it returns 0.  What it hears of may be no
 * code. */
void hooks_each_call(const struct hooks *h, const struct image *im,
		     int (*hear)(void *arg, uint64_t hook, int kind),
		     void *arg);

#endif
