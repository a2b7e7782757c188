/* SPDX-License-Identifier: MIT
 *
 * The border: functions of a library that is not traced, where traced files
 * call them.
 */
#ifndef ENGINE_PLAN_BORDER_H
#define ENGINE_PLAN_BORDER_H

#include "elf/stubs.h"
#include "plan/placement.h"
#include "plan/plan_make.h"

/* A function by a name that traced files call it by. */
struct border_choice {
	const char *name;
	uint32_t function; /* index */
	int is_resolver;   /* of another one, which is not known */
};

struct border {
	const struct imports *called; /* by traced files; borrowed */
	const struct imports *handed; /* other libraries' functions jump to
					 them, not called; borrowed */
	struct imports jumped; /* the like, of this one's functions: where other
				  files have them */
	struct symtab forms;
	const struct stubs *stubs; /* borrowed */
	struct border_choice *choices;
	uint32_t n_choices, cap_choices;
	int failed; /* out of memory */
};

/* choice and stubs are borrowed until border_release(). */
void border_init(struct border *b, const struct image *im,
		 const struct stubs *stubs, const struct plan_choice *choice);
void border_release(struct border *b);

/* Sets is_chosen and reason of the functions that the image exports and traced
 * files call, and as CST_PLAN_ENDS_OTHERS of those that others jump to.
 * Returns 0 or CST_MEMORY. */
int border_choose(struct border *b, struct functions *f,
		  const struct image *im);

/* Once entries are placed: leaves all forms of a function out if one of them
 * has none, for the processor is not known.  Returns whether there were such
 * ones: all is to be placed anew. */
int border_drop_forms(const struct placements *p);
/* Wants the ends of functions that are left out: their calls are seen where
 * they are made. */
void border_end_left_out(const struct placements *p);

/* Returns how calls by that name are seen. */
enum cst_border_name border_name(const struct functions *f,
				 const struct border_choice *c);

/* Chooses, as CST_PLAN_ENDS_OTHERS, the functions that those which are chosen
 * jump to, and so on: these return to the caller in their place.  Notes which
 * of these are other files'.  Returns 0 or CST_MEMORY. */
int border_follow(const struct placements *p);

/* Returns what placement_ending() does; in a border plan it is ENDING_HANDED
 * where another function ends the call and has no row. */
enum ending border_ending(const struct placements *p, uint32_t function,
			  const struct insn *i, int is_bare);

/* Returns whether the ends of what such a jump leads to are reported, as far as
 * can be known. */
int border_is_ended(const struct placements *p, const struct insn *jump);

#endif
