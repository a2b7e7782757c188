/* SPDX-License-Identifier: MIT
 *
 * The linker's stubs (the PLT), each a jump to a function that the loader
 * finds, and the words that they read.
 */
#ifndef ENGINE_STUBS_H
#define ENGINE_STUBS_H

#include "elf/elffile.h"
#include "elf/insn.h"

struct stub {
	uint64_t slot;	   /* the word that the loader fills */
	const char *name;  /* of the function, borrowed from the Elf; or NULL */
	uint64_t resolver; /* of the function, in this file; or 0 */
};

/* The code of a stub; jump is its jump, before which there may be an
 * endbr64. */
struct stub_code {
	uint64_t start, jump, end;
	uint32_t stub; /* index */
};

struct stubs {
	struct stub *all; /* by slot */
	uint32_t n, cap;
	struct stub_code *code; /* by address */
	uint32_t n_code, cap_code;
};

/* Returns whether a section of that name holds stubs. */
int stubs_are_in(const char *section);

/* Finds where they are, and perhaps something between them; *end is 0 if there
 * are none.  This is quick. */
void stubs_extent(Elf *elf, uint64_t *start, uint64_t *end);

/* Reads those of the file.  Returns 0 or CST_MEMORY; stubs_release() in any
 * case. */
int stubs_init(struct stubs *s, const struct elf_file *f);
void stubs_release(struct stubs *s);

/* Returns the stub whose code addr is in, or NULL. */
const struct stub_code *stubs_at(const struct stubs *s, uint64_t addr);

/* Returns what the jump reads its target from, itself or in a stub; or NULL. */
const struct stub *stubs_find(const struct stubs *s, const struct insn *jump);

#endif
