/* SPDX-License-Identifier: MIT
 *
 * Plans: how a program that was not built for it is changed, as it runs, to
 * report its calls.  cstrace/plan_layout.h says what is in one.
 */
#ifndef ENGINE_PLAN_PLAN_H
#define ENGINE_PLAN_PLAN_H

#include "base/error.h"
#include "cstrace/plan_layout.h"

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

/* Takes the n bytes at data over, which malloc() gave, also on failure.
 * Returns 0, and the caller frees *out with plan_free(); CST_BAD_INPUT if they
 * are no valid plan, or CST_MEMORY. */
int plan_of_bytes(void *data, uint64_t n, struct plan **out,
		  struct cst_error *err);

void plan_free(struct plan *p);

/* Writes the plan at the position of fd. Returns 0 or CST_FAILED. */
int plan_write(const struct plan *p, int fd, struct cst_error *err);
/* Reads one from a file's begin.  Returns 0, and the caller frees *out with
 * plan_free(); CST_BAD_INPUT if it is no valid plan, CST_FAILED or
 * CST_MEMORY. */
int plan_read(int fd, struct plan **out, struct cst_error *err);

/* Why a function has no patches, as text: "written in assembler". */
const char *plan_reason(enum cst_plan_reason reason);

/* Returns the slot whose gate a trampoline calls, which returns to that place
 * in the area. */
enum cst_plan_slot plan_slot(const struct plan *p, uint32_t hook);

/* Returns the text of function i's name: "" if it has none. */
const char *plan_name(const struct plan *p, uint32_t i);

#endif
