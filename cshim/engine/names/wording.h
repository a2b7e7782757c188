/* SPDX-License-Identifier: MIT
 *
 * A user's word for functions: a name as rows have it, or a regex.
 */
#ifndef ENGINE_WORDING_H
#define ENGINE_WORDING_H

#include "base/error.h"
#include "names/names.h"

#include <regex.h>

/* How well a name fits a word, the better the higher. */
enum fit { FIT_NONE = 0, FIT_TAIL, FIT_WHOLE };

struct wording {
	char *word; /* without slashes; NULL: matches nothing */
	char *part; /* what a linkage name must have in it to mean it; NULL:
		     * nothing is known of that */
	regex_t regex;
	uint8_t has_regex, is_regex; /* the latter: nothing else, by slashes */
	uint8_t is_full;	     /* the regex looks at parameters, too */
	uint8_t best;		     /* enum fit, of the functions there are */
	uint32_t n_known;	     /* functions that best is of */
};

/* A word between slashes is an extended regex.  Any other is the name of the
 * functions that are called just so; or, without any, of those whose last part
 * it is ("order" of "Shop::order"); or, without any of these as well, a regex.
 * CST_BAD_INPUT: it compiles as none, and is no operator's name. */
int wording_init(struct wording *w, const char *word, enum cst_names names,
		 struct cst_error *err);
void wording_release(struct wording *w);

/* Look at functions that are new since the last time. 1: others match now. */
int wording_learn(struct wording *w, const struct names *names);
/* Take it that the program has a function of this linkage name, called or not.
 * 1: others match now. */
int wording_hear(struct wording *w, const char *symbol);
/* This one has another name now. */
void wording_forget(struct wording *w, uint32_t id);

/* Does the function match, by what was learnt? */
int wording_matches(const struct wording *w, const struct function *f);

/* Writes names that the word may have been meant to be, nearest first:
 * "order, orders".  Returns how many. */
int wording_near(const char *word, const struct names *names, char *out,
		 uint32_t size);

#endif
