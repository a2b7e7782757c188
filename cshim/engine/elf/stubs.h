/* SPDX-License-Identifier: MIT
 *
 * Jumps through the linker's stubs (the PLT): which function the loader leads
 * them to.
 */
#ifndef ENGINE_PLAN_STUBS_H
#define ENGINE_PLAN_STUBS_H

#include "elf/insn.h"
#include "plan/image.h"

struct stub {
	uint64_t slot; /* the word that the loader fills */
	const char
		*name; /* of the function, borrowed from the image; or NULL */
	uint64_t resolver; /* of the function, in this file; or 0 */
};

struct stubs {
	struct stub *all; /* by slot */
	uint32_t n, cap;
};

/* Reads those of the image.  Returns 0 or CST_MEMORY; stubs_release() in any
 * case. */
int stubs_init(struct stubs *s, const struct image *im);
void stubs_release(struct stubs *s);

/* Returns what the jump reads its target from, itself or in a stub; or NULL. */
const struct stub *stubs_find(const struct stubs *s, const struct image *im,
			      const struct insn *jump);

#endif
