/* SPDX-License-Identifier: MIT
 *
 * Where a function's result is when its exit hook is called.
 */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "args/place.h"
#include "args/types.h"

/* Follows the code behind the hook and puts the place of a result of this type
 * into *out, and how it is computed into *computed, if that is
 * PLACE_COMPUTED.  Returns 1, or 0 if it is not known there. */
int result_find(const struct types *t, uint32_t type, struct modules *m,
		uint64_t hook, struct place *out, struct computed *computed);

/* Is the half of a struct that begins there made of floats alone? */
int result_is_float_half(const struct types *t, const struct type *type,
			 uint32_t begin);

#endif
