/* SPDX-License-Identifier: MIT
 *
 * Which calls are shown: a choice, compiled, and its state along one lane.
 * Used alike by the live view and by what reads a trace.
 */
#ifndef ENGINE_FILTER_H
#define ENGINE_FILTER_H

#include "base/error.h"
#include "names/names.h"

struct filter;

/* Takes the words for functions (wording.h). */
int filter_new(const struct cst_choice *choice, struct filter **out,
	       struct cst_error *err);
void filter_free(struct filter *f);

/* What a call hands down to its callees. */
struct filter_state {
	uint32_t depth;	   /* visible depth of its callees */
	uint8_t is_inside; /* below a function that matches the filter */
};

struct filter_state filter_root(const struct filter *f);

/* Enter a call of function `id` under a caller in state `above`: fills
 * *below, returns 1 when the call is visible (its depth is above.depth).
 * min_ns, thread, last, around, from and until are not looked at here.  The
 * verdict on a function is worked out once and kept; filter_forget() drops it
 * when the function was renamed. */
int filter_enter(struct filter *f, const struct names *names, uint32_t id,
		 struct filter_state above, struct filter_state *below);
void filter_forget(struct filter *f, uint32_t id);

/* Take it that the program has a function of this linkage name: a word that is
 * its name means no others, also before it is called.  1: verdicts are others
 * now. */
int filter_hear(struct filter *f, const char *symbol);

/* Is whether a call is visible its function's affair alone, wherever it is
 * made?  Which functions' calls are not is told by filter_hides(). */
int filter_is_plain(const struct filter *f);
int filter_hides(struct filter *f, const struct names *names, uint32_t id);
/* Is the function one of those that `exclude` names? */
int filter_excludes(struct filter *f, const struct names *names, uint32_t id);
/* Is it hidden for being the library's, and for nothing else? */
int filter_hides_std(struct filter *f, const struct names *names, uint32_t id);
/* Is it one of those that `from` or `until` names? */
int filter_begins(struct filter *f, const struct names *names, uint32_t id);
int filter_ends(struct filter *f, const struct names *names, uint32_t id);

/* Is a from or until the ID of a call?  No function's name begins so. */
int filter_is_id(const char *word);

#endif
