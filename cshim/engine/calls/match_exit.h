/* SPDX-License-Identifier: MIT
 *
 * Finds the open call that an exit ends.
 */
#ifndef ENGINE_MATCH_EXIT_H
#define ENGINE_MATCH_EXIT_H

#include "calls/find_lane.h"

/* Returns the index + 1 of the call on s with the exit's function and frame, or
 * 0. */
uint32_t exits_find(const struct stack *s, const struct frame *f);

/* Returns the index + 1 of the call that the exit ends although it was not made
 * in the frame that was entered, or 0. */
uint32_t exits_find_rest(const struct stack *s, const struct frame *f);

#endif
