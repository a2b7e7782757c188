/* SPDX-License-Identifier: MIT
 *
 * Calls whose rows the user gave a colour.
 */
#ifndef ENGINE_MARKS_H
#define ENGINE_MARKS_H

#include "names/names.h"

/* Gives the call with these parts of its ID a colour (enum cst_color).  Returns
 * 0, or CST_MEMORY. */
int marks_set(struct names *n, uint32_t process, uint32_t thread,
	      uint64_t number, uint32_t color);

/* Returns the call's colour, or 0. */
uint32_t marks_find(const struct names *n, uint32_t process, uint32_t thread,
		    uint64_t number);

/* Gives the calls of `to`, which has no colours, those of `from`. */
int marks_copy(struct names *to, const struct names *from);

/* Takes all colours away. */
void marks_clear(struct names *n);

void marks_free(struct marks *m);

static inline uint32_t marks_of(const struct names *n, uint32_t process,
				uint32_t thread, uint64_t number)
{
	return n->marks ? marks_find(n, process, thread, number) : 0;
}

#endif
