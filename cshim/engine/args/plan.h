/* SPDX-License-Identifier: MIT
 *
 * What all plans of a trace are made with.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "args/args.h"
#include "args/types.h"
#include "base/hashmap.h"

struct args {
	struct types types;
	struct hashmap by_place; /* a hook's place: 1 + its plan, or 0: none */
	/* A hook's place whose plan was made ahead: which function, or inlined
	 * call, it is of, as the low half of its DIE's offset. */
	struct hashmap ahead;
	struct args_plan **plans;
	uint32_t n, cap;
	int wants_members; /* of *this */
	uint32_t text_bytes;
};

#endif
