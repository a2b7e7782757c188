/* SPDX-License-Identifier: MIT
 *
 * Pairs of numbers, numbered from 0 in order of first use.
 */
#ifndef ENGINE_PAIRS_H
#define ENGINE_PAIRS_H

#include <stdint.h>

struct pair {
	uint32_t a, b;
};

/* Zeroed: empty. */
struct pairs {
	struct pair *all; /* by number */
	uint32_t n, cap;
	uint32_t *slots; /* number + 1 */
	uint32_t n_slots;
};

enum { NO_PAIR = UINT32_MAX };

/* The pair's number; a new one is n before the call.  NO_PAIR: it is new, and
 * there are `most` or out of memory (then n is less). */
uint32_t pairs_number(struct pairs *p, uint32_t a, uint32_t b, uint32_t most);
void pairs_release(struct pairs *p);

#endif
