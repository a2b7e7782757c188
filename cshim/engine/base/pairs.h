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

/* Returns the number of the pair (a, b), and adds it if it is new: then its
 * number is what p->n was before the call.  Returns NO_PAIR if it is new and
 * there are `most` pairs already, or memory ran out (p->n is then less than
 * `most`). */
uint32_t pairs_number(struct pairs *p, uint32_t a, uint32_t b, uint32_t most);
/* Frees the memory of p and zeroes it. */
void pairs_release(struct pairs *p);

#endif
