/* SPDX-License-Identifier: MIT
 *
 * The border: functions of a library that is not traced, where traced files
 * call them.
 */
#ifndef ENGINE_PLAN_BORDER_H
#define ENGINE_PLAN_BORDER_H

#include "plan/imports.h"
#include "plan/placement.h"
#include "plan/stubs.h"

struct border {
	const struct imports *called; /* by traced files; borrowed */
	const struct imports *handed; /* other libraries' functions jump to
					 them, not called; borrowed */
	struct imports jumped; /* the like, of this one's functions: where other
				  files have them */
	struct symtab forms;
	struct stubs stubs;
};

/* Returns 0 or CST_MEMORY; border_release() in any case. */
int border_init(struct border *b, const struct image *im,
		const struct imports *called, const struct imports *handed);
void border_release(struct border *b);

/* Sets is_chosen and reason of the functions that the image exports and traced
 * files call, and as CST_PLAN_ENDS_OTHERS of those that others jump to. */
void border_choose(const struct border *b, struct functions *f,
		   const struct image *im);

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
