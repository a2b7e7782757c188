/* SPDX-License-Identifier: MIT
 *
 * The parts of a plan become one.
 */
#ifndef ENGINE_PLAN_ASSEMBLE_H
#define ENGINE_PLAN_ASSEMBLE_H

#include "plan/trampoline.h"

/* Numbers the functions that were chosen, as the plan has them. */
void assemble_number(struct functions *f);

/* Puts a plan together.  Returns 0, and the caller frees *out with plan_free();
 * CST_FAILED if it is too large, or CST_MEMORY. */
int assemble(struct trampolines *t, const struct functions *f,
	     const struct image *im, struct plan **out, struct cst_error *err);

#endif
