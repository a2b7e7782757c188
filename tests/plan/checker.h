/* SPDX-License-Identifier: MIT
 *
 * A plan that is held against the file that it is of.
 */
#ifndef TESTS_PLAN_CHECKER_H
#define TESTS_PLAN_CHECKER_H

#include "facts.h"
#include "plan/plan.h"

struct check {
	const char *path;
	const struct plan *plan;
	struct facts facts;
	unsigned *first_copy; /* by patch: index + 1 of its first copy */
	unsigned n_wrong, n_copies;
	unsigned *n_entries, *n_ends; /* by function */
};

/* Reports that the patch is wrong, with the address at which it is.  Returns 0.
 */
int wrong(struct check *c, const struct cst_patch *p, const char *what,
	  uint64_t addr);
/* Returns the file's address of what is at that offset of the area. */
uint64_t area_addr(const struct check *c, uint64_t offset);
/* Returns where the jump or call of n bytes at addr leads to. */
uint64_t near_target(const uint8_t *bytes, unsigned n, uint64_t addr);

/* Returns whether the entry is behind its function's prologue. */
int is_framed(const struct check *c, const struct cst_patch *p);
/* Returns whether rbp finds the return address there. */
int has_frame(const struct check *c, uint64_t addr);
/* Returns how many bytes of a deep entry's trampoline find the return address;
 * 0: it is none. */
unsigned is_deep(const struct check *c, const struct cst_patch *p);
/* Returns how far above the stack pointer a deep entry says that the CFA is; 0:
 * rbp finds it, or it is none. */
uint32_t deep_cfa(const struct check *c, const struct cst_patch *p);
/* Returns whether a call ends in the patch's trampoline. */
int has_ending(const struct cst_patch *p);
/* Returns whether the patch's trampoline does what it is to do, and sets *end
 * to what lies behind the instructions that it has. */
int check_trampoline(struct check *c, unsigned patch, uint64_t *end);

#endif
