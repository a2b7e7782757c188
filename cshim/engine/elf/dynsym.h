/* SPDX-License-Identifier: MIT
 *
 * A file's dynamic symbols: what it has for others, and what it takes from
 * them.
 */
#ifndef ENGINE_DYNSYM_H
#define ENGINE_DYNSYM_H

#include <gelf.h>
#include <libelf.h>

struct dynsym {
	Elf *elf;
	Elf_Data *data; /* NULL: there is no table */
	GElf_Shdr header;
	int next;
};

struct dynsym_entry {
	GElf_Sym symbol;
	const char *name; /* borrowed from the Elf; never "" */
};

/* Begins a walk over those of the Elf. */
void dynsym_init(struct dynsym *d, Elf *elf);
/* Returns 1 with the next one that has a name, or 0: there are no more. */
int dynsym_next(struct dynsym *d, struct dynsym_entry *out);

/* Whether a file has a symbol of that name for others, or takes it from
 * them. */
enum dynsym_use { DYNSYM_NONE, DYNSYM_TAKEN, DYNSYM_OWN };
enum dynsym_use dynsym_use(Elf *elf, const char *name);

#endif
