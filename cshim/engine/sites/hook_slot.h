/* SPDX-License-Identifier: MIT
 *
 * The area's table of what hooks copy, by the hook's place.
 */
#ifndef ENGINE_HOOK_SLOT_H
#define ENGINE_HOOK_SLOT_H

#include <stddef.h>

#include "area/area.h"

/* Returns the hook's slot in the area's table, which may be empty; NULL: there
 * is no room. */
static inline struct cst_hook *hook_slot(const struct area *a, uint64_t hook,
					 uint32_t process)
{
	struct cst_hook *slots = &a->hooks[cst_hook_first(hook, process)];

	for (uint32_t i = 0; i < CST_HOOK_PROBES; i++)
		if (!slots[i].hook ||
		    (slots[i].hook == hook && slots[i].process == process))
			return &slots[i];
	return NULL;
}

#endif
