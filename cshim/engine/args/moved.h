/* SPDX-License-Identifier: MIT
 *
 * From what code does with values to their places.
 */
#ifndef ENGINE_MOVED_H
#define ENGINE_MOVED_H

#include "args/flow.h"
#include "args/place.h"

/* The parts of a value, from its first byte on. */
struct moved {
	struct flow_value parts[PLACE_PIECES_MAX];
	uint8_t sizes[PLACE_PIECES_MAX];
	int n;
};

/* Adds a part of so many bytes.  Returns 0 if it is not known. */
int moved_add(struct moved *m, const struct flow_value *value, uint32_t size);

/* Makes a place of the parts.  Returns 0 if there is none. */
int moved_place(const struct moved *m, struct place *out);

/* Makes a place of one value. */
int moved_scalar(const struct flow_value *value, struct place *out);

/* A parameter's place in the frame, which the function writes only behind the
 * hook (clang's code does, unless it is optimized): makes it the place that its
 * value comes from.  start is where the function begins. */
void moved_from(struct modules *m, uint64_t start, uint64_t hook, uint32_t size,
		struct place *p);

#endif
