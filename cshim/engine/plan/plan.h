/* SPDX-License-Identifier: MIT
 *
 * Plans: how a program that was not built for it is changed, as it runs, to
 * report its calls.  cstrace/plan_layout.h says what is in one.
 */
#ifndef ENGINE_PLAN_PLAN_H
#define ENGINE_PLAN_PLAN_H

#include "base/error.h"
#include "cstrace/plan_layout.h"

/* Which functions are traced.  All zero: those with line information; of a file
 * without any, those with symbols; without these, what .eh_frame describes. */
struct plan_choice {
	const char *functions;	/* a regular expression of names; NULL: all */
	uint64_t min_size;	/* of a function, in bytes */
	const char *debug_file; /* where the file's debug information is, if
				   not found by itself; NULL */
};

/* A plan in one piece of memory, valid as cst_plan_is_valid() says. */
struct plan {
	const struct cst_plan *header;
	const struct cst_patch *patches;
	const struct cst_plan_copy *copies;
	const uint32_t *moves;
	const struct cst_plan_function *functions;
	const char *names;
	const uint8_t *area;
};

/* Makes the plan of the ELF file at path.  Returns 0, and the caller frees *out
 * with plan_free(); CST_BAD_INPUT if it is no ELF file for x86-64 with code, or
 * the choice is wrong; CST_FAILED or CST_MEMORY. */
int plan_make(const char *path, const struct plan_choice *choice,
	      struct plan **out, struct cst_error *err);
void plan_free(struct plan *p);

/* Takes the n bytes at data over, which malloc() gave, also on failure.
 * Returns 0, and the caller frees *out with plan_free(); CST_BAD_INPUT if they
 * are no valid plan, or CST_MEMORY. */
int plan_of_bytes(void *data, uint64_t n, struct plan **out,
		  struct cst_error *err);

/* Writes the plan at the position of fd. Returns 0 or CST_FAILED. */
int plan_write(const struct plan *p, int fd, struct cst_error *err);
/* Reads one from a file's begin.  Returns 0, and the caller frees *out with
 * plan_free(); CST_BAD_INPUT if it is no valid plan, CST_FAILED or
 * CST_MEMORY. */
int plan_read(int fd, struct plan **out, struct cst_error *err);

/* Returns the user's cached plan of the file and the choice, or makes and
 * caches it.  A file without a build-id is not cached, and a cache that cannot
 * be written is no failure.  Otherwise as plan_make(). */
int plan_get(const char *path, const struct plan_choice *choice,
	     struct plan **out, struct cst_error *err);

/* Why a function has no patches, as text: "written in assembler". */
const char *plan_reason(enum cst_plan_reason reason);

/* Returns the text of function i's name: "" if it has none. */
const char *plan_name(const struct plan *p, uint32_t i);

#endif
