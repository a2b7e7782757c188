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
	struct args_plan **plans;
	uint32_t n, cap;
};

#endif
