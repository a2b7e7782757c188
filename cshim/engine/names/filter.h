/* SPDX-License-Identifier: MIT
 *
 * Which calls are shown: a choice, compiled, and the state that it has along
 * one lane.  The live view and the readers of a trace use it alike.
 */
#ifndef ENGINE_FILTER_H
#define ENGINE_FILTER_H

#include "base/error.h"
#include "names/names.h"

struct filter;

/* Compiles the choice; wording.h says what its words for functions mean.  The
 * caller frees *out with filter_free(). Returns 0, CST_BAD_INPUT or
 * CST_MEMORY. */
int filter_new(const struct cst_choice *choice, struct filter **out,
	       struct cst_error *err);

/* Frees f, which may be NULL. */
void filter_free(struct filter *f);

/* What the visibility of a call's callees depends on. */
struct filter_state {
	uint32_t depth;	   /* visible depth of its callees */
	uint8_t is_inside; /* below a function that matches the filter */
};

/* Returns the state of a lane's outermost calls. */
struct filter_state filter_root(const struct filter *f);

/* Enters a call of function `id` under a caller in state `above`: sets *below,
 * the state for its callees, and returns 1 if the call is visible (its depth is
 * above.depth), else 0. Ignores min_ns, thread, last, around, from and until of
 * the choice.  What the choice says of a function is worked out once and kept
 * until filter_forget(), which is due when the function was renamed. */
int filter_enter(struct filter *f, const struct names *names, uint32_t id,
		 struct filter_state above, struct filter_state *below);
void filter_forget(struct filter *f, uint32_t id);

/* Adds the linkage name of a function that the program has, called or not: a
 * word that is exactly its name then means no other functions.  Returns 1 if
 * the visibility of functions has changed by that. */
int filter_hear(struct filter *f, const char *symbol);

/* Returns whether the visibility of a call depends on its function alone, not
 * on its callers.  filter_hides() then says which functions are hidden. */
int filter_is_plain(const struct filter *f);

/* Returns whether the function's own calls are hidden, wherever they are
 * made. */
int filter_hides(struct filter *f, const struct names *names, uint32_t id);
/* Returns whether `exclude` names the function. */
int filter_excludes(struct filter *f, const struct names *names, uint32_t id);
/* Returns whether the function is hidden because it is the library's, and for
 * no other reason. */
int filter_hides_std(struct filter *f, const struct names *names, uint32_t id);
/* Returns whether the function is defined in this source file, whose path may
 * lack its first folders. */
int filter_is_in(const struct function *function, const char *file);
/* Returns whether the function is of this program or library, whose name may
 * lack folders and what stands behind ".so". */
int filter_is_of(const struct function *function, const char *module);
/* filter_begins() returns whether `from` names the function, filter_ends()
 * whether `until` does. */
int filter_begins(struct filter *f, const struct names *names, uint32_t id);
int filter_ends(struct filter *f, const struct names *names, uint32_t id);

/* Returns whether the word of a from or until is the ID of a call; no
 * function's name begins with a digit. */
int filter_is_id(const char *word);

#endif
