/* SPDX-License-Identifier: MIT
 *
 * The plan of a file is made: its functions are found and chosen, their code is
 * read, and each gets its patches.
 */
#ifndef ENGINE_PLAN_MAKE_H
#define ENGINE_PLAN_MAKE_H

#include "plan/imports.h"
#include "plan/plan.h"

/* Which functions are traced.  All zero: those with line information; of a file
 * without any, those with symbols; without these, what .eh_frame describes. */
struct plan_choice {
	const char *functions;	/* a regular expression of names; NULL: all */
	uint64_t min_size;	/* of a function, in bytes */
	const char *debug_file; /* where the file's debug information is, if
				   not found by itself; NULL */
	/* gdb is to step through the functions as if nothing was patched:
	 * entries lie behind prologues that set rbp, where gdb stops for a
	 * breakpoint on the function; fewer ends have room then. */
	int is_for_gdb;
	/* It is a border plan (plan_layout.h), of the functions that the file
	 * exports by these names; NULL: it is none. */
	const struct imports *border;
	/* For such a plan: names of functions that other libraries' jump to,
	 * whose calls end there. */
	const struct imports *handed;
	/* Calls of these functions, other files', are reported at the file's
	 * own stubs; NULL: none are. */
	const struct imports *calls;
	const struct imports *open; /* whose ends are not reported */
	int only_calls;		    /* and no function of the file's */
};

/* Makes the plan of the ELF file at path.  Returns 0, and the caller frees *out
 * with plan_free(); CST_BAD_INPUT if it is no ELF file for x86-64 with code, or
 * the choice is wrong; CST_FAILED or CST_MEMORY. */
int plan_make(const char *path, const struct plan_choice *choice,
	      struct plan **out, struct cst_error *err);
#endif
