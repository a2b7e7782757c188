/* SPDX-License-Identifier: MIT
 *
 * Where the System V ABI has arguments at a function's first instruction, and a
 * result before its last, which patches report.
 */
#ifndef ENGINE_ABI_H
#define ENGINE_ABI_H

#include "args/place.h"
#include "args/types.h"

/* What the arguments so far have taken. */
struct abi {
	uint32_t n_numbers, n_floats; /* registers */
	uint32_t stack;		      /* bytes */
	int is_lost; /* one of them was of a type that is not known */
	int is_result;
};

/* Begins with the first argument of a function with this result. */
void abi_begin(struct abi *e, const struct types *t, uint32_t result);

/* Puts the place of the next argument, of this type, into *out: PLACE_GONE
 * where it is not known. */
void abi_next(struct abi *e, const struct types *t, uint32_t type,
	      struct place *out);

/* Puts the place of a result into *out.  Returns 0 where it is not known. */
int abi_result(const struct types *t, uint32_t type, struct place *out);

#endif
