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
	uint32_t n;
};

/* Finds them; a function of the file that is a hook is_hooked, too. */
void hooks_find(struct hooks *h, const struct image *im, struct functions *f);

/* Returns whether it is one of these addresses. */
static inline int hooks_has(const struct hooks *h, uint64_t addr)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->places[i] == addr)
			return 1;
	return 0;
}

#endif
