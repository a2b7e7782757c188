/* SPDX-License-Identifier: MIT
 *
 * A user's word for functions: a name as rows have it, or a regex.
 */
#ifndef ENGINE_WORDING_H
#define ENGINE_WORDING_H

#include "base/error.h"
#include "base/regex.h"
#include "names/names.h"

/* How well a name fits a word; a higher value is a better fit. */
enum fit { FIT_NONE = 0, FIT_TAIL, FIT_WHOLE };

struct wording {
	char *word; /* without slashes; NULL: matches nothing */
	char *part; /* what a linkage name must contain to fit it; NULL: not
		       known */
	struct regex *regex; /* NULL: the word cannot be compiled as one */
	uint8_t is_regex;    /* it is nothing else, by its slashes */
	uint8_t is_full;     /* the regex looks at parameters, too */
	uint8_t best;	     /* enum fit: the best fit of the known functions */
	uint32_t n_known;    /* functions that best accounts for */
};

/* Compiles a word (NULL matches nothing). A word between slashes is a
 * regex.  Any other word means the functions that have exactly this name; if
 * there are none, those whose name ends with it ("order" of "Shop::order"); if
 * there are none of these either, it is a regex.  Returns 0, CST_MEMORY, or
 * CST_BAD_INPUT if it cannot be compiled as a regex and is no operator's
 * name. */
int wording_init(struct wording *w, const char *word, enum cst_names names,
		 struct cst_error *err);

/* Frees the memory of w and zeroes it. */
void wording_release(struct wording *w);

/* Looks at functions that are new since the last time.  Returns 1 if the word
 * now matches other functions than before. */
int wording_learn(struct wording *w, const struct names *names);
/* Adds the linkage name of a function that the program has, called or not.
 * Returns 1 if the word now matches other functions than before. */
int wording_hear(struct wording *w, const char *symbol);
/* Makes wording_learn() look again at the function with this number, which was
 * renamed, and at all after it. */
void wording_forget(struct wording *w, uint32_t id);

/* Returns whether the word matches the function, by what wording_learn() and
 * wording_hear() have seen so far. */
int wording_matches(const struct wording *w, const struct function *f);

/* Writes names that the word may have been meant to be, nearest first:
 * "order, orders".  Returns how many. */
int wording_near(const char *word, const struct names *names, char *out,
		 uint32_t size);

#endif
