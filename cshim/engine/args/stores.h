/* SPDX-License-Identifier: MIT
 *
 * Whether a function has written a place in its frame before a hook is called.
 */
#ifndef ENGINE_STORES_H
#define ENGINE_STORES_H

#include "cstrace/layout.h"
#include "elf/modules.h"

/* A place in a frame. */
struct stores_slot {
	int reg; /* enum cst_copy_register */
	int32_t offset;
	uint32_t size;
	int64_t cfa_offset; /* from the frame's CFA; STORES_NO_OFFSET: not known
			     */
	int is_by_fp;	    /* reg is a frame pointer, once and for all */
};

#define STORES_NO_OFFSET INT64_MAX

enum stores { STORES_NOT, STORES_SOMETHING, STORES_MAYBE };

/* Returns whether the code in [start, end), where a function begins, stores
 * something in the slot. */
enum stores stores_before(struct modules *m, uint64_t start, uint64_t end,
			  const struct stores_slot *slot);

#endif
