/* SPDX-License-Identifier: MIT
 *
 * "Did you mean ...?": the names that are nearest to a misspelt one.
 */
#ifndef ENGINE_NEAR_H
#define ENGINE_NEAR_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_NEAR = 3 };

struct near {
	const char *word; /* borrowed, as are the names */
	size_t length;	  /* 0: too short or long to be compared */
	struct near_name {
		const char *name;
		unsigned distance;
	} best[MOST_NEAR];
};

/* Begins the search for names like `word`. */
void near_init(struct near *n, const char *word);
/* Looks at one name more, which must stay valid until near_put(). */
void near_offer(struct near *n, const char *name);
/* Writes the nearest names: "order, orders", or "".  Returns how many. */
int near_put(const struct near *n, char *out, uint32_t size);

#endif
