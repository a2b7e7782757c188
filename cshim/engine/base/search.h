/* SPDX-License-Identifier: MIT
 *
 * Binary search.
 */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include <stdint.h>

/* Returns for how many of the numbers below n the condition holds, an
 * expression of the number i.  It holds for the first ones and then for no
 * other: so this is also the first number for which it does not hold, or n. */
#define search_while(i, n, condition)                           \
	({                                                      \
		uint32_t low_ = 0, high_ = (uint32_t)(n);       \
                                                                \
		while (low_ < high_) {                          \
			uint32_t i = low_ + (high_ - low_) / 2; \
                                                                \
			if (condition)                          \
				low_ = i + 1;                   \
			else                                    \
				high_ = i;                      \
		}                                               \
		low_;                                           \
	})

#endif
