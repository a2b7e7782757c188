/* SPDX-License-Identifier: MIT
 *
 * A value of a plan: what its steps emit, and what that is.
 */
#ifndef ENGINE_ITEMS_H
#define ENGINE_ITEMS_H

#include "args/place.h"
#include "args/types.h"

enum item_kind {
	ITEM_GONE = 0, /* nothing is emitted */
	ITEM_CONSTANT,
	ITEM_ADDRESS, /* of something in a file, from the hook's on */
	ITEM_BYTES,   /* `size` bytes */
	ITEM_CHECKED, /* a status, and if it is ok `size` bytes */
	ITEM_TEXT,
	ITEM_HEAD, /* of a vector */
	ITEM_COMPUTED,
};

struct args_item {
	uint8_t kind;  /* enum item_kind */
	uint8_t texts; /* the fields (bits) whose texts follow the bytes */
	uint16_t size;
	uint8_t is_changed; /* widened, or added to */
	uint8_t widening;   /* enum widening */
	uint8_t number; /* the enum cst_value of `size` bytes; 0: ask the type
			 */
	uint32_t type;
	int64_t add;		      /* to the number; or it is the constant */
	uint16_t first_step, n_steps; /* of the plan's */
};

enum { ITEMS_MAX = 48, ITEMS_STEPS_MAX = CST_COPY_STEPS_MAX };

/* A plan while it is made. */
struct draft {
	const struct types *types;
	uint32_t text_bytes; /* of each text, at most */
	struct cst_copy steps[ITEMS_STEPS_MAX];
	uint32_t n_steps;
	struct args_item items[ITEMS_MAX];
	uint32_t n_items;
	uint64_t hook; /* its place in the process at hand */
};

/* Adds a value of this type at this place, and its steps; without room for
 * these it is gone. */
void items_add(struct draft *d, const struct place *place, uint32_t type);

/* Likewise a number that is computed of what its inputs emit: ->how of such a
 * node becomes whether a status comes before its bytes. */
void items_add_computed(struct draft *d, struct computed *computed,
			uint32_t type);

#endif
