/* SPDX-License-Identifier: MIT
 *
 * Which open call an exit ends.
 */
#ifndef ENGINE_MATCH_EXIT_H
#define ENGINE_MATCH_EXIT_H

#include "calls/find_lane.h"

/* The one on s with the exit's function and frame: its index + 1, or 0. */
uint32_t exits_find(const struct stack *s, const struct frame *f);

/* The same where the exit was not made in the frame that was entered. */
uint32_t exits_find_rest(const struct stack *s, const struct frame *f);

#endif
