/* SPDX-License-Identifier: MIT
 *
 * Tables of 32-bit offsets from their own begins to places of the code, which
 * the jumps of switches go through.  What is taken for one and is none costs a
 * patch; what is not noticed would cost the program: so whatever the code takes
 * the address of counts, up to where it leads to no code, or to where a table
 * begins for certain.
 */
#ifndef ENGINE_PLAN_TABLES_H
#define ENGINE_PLAN_TABLES_H

#include "plan/functions.h"
#include "plan/image.h"

struct table {
	uint64_t start;
	uint32_t function; /* that takes its address; FUNCTION_NONE: code that
			    * is in none */
};

struct tables {
	struct table *all;
	uint64_t *certain; /* a jump adds its offset to that address */
	uint32_t n, cap, n_certain, cap_certain;
	int failed; /* out of memory */
};

void tables_add(struct tables *t, uint64_t start, uint32_t function);
void tables_add_certain(struct tables *t, uint64_t start);
void tables_join(struct tables *to, const struct tables *t);
void tables_free(struct tables *t);
/* Marks where the tables lead to, once all code was read. */
void tables_mark(struct tables *t, struct image *im, struct functions *f);

#endif
