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

/* A function at its hook's call. */
struct moved_function {
	struct modules *modules;
	uint64_t start, hook; /* where it begins; where the hook returns to */
	const struct code *code;
	int is_inlined; /* start is that of the function around it */
};

/* A parameter's place in the frame, which the function may write only behind
 * the hook: replaces it by where the value is when the hook is called.
 * PLACE_GONE where that is not known, or where the function never writes what
 * the debug information names.  `size` are the bytes of the value. */
void moved_from(const struct moved_function *of, uint32_t size,
		struct place *p);

#endif
