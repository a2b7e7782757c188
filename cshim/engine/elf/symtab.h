/* SPDX-License-Identifier: MIT
 *
 * The functions, or the variables, of one ELF symbol table, sorted by address.
 */
#ifndef ENGINE_SYMTAB_H
#define ENGINE_SYMTAB_H

#include "base/ranges.h"

#include <libelf.h>

struct symtab_entry {
	struct range range; /* of addresses in the file */
	const char *name;   /* borrowed from the Elf, or owned: see symtab.c */
};

struct symtab {
	struct symtab_entry *entries;
	uint32_t n, capacity;
	uint32_t *by_name; /* their indexes; NULL: nobody has asked for them */
};

/* Read the section of that type (SHT_SYMTAB or SHT_DYNSYM), adding shift to
 * its addresses.  0: there is none (or no memory), the table stays empty. */
int symtab_init(struct symtab *t, Elf *elf, uint32_t type, uint64_t shift);
/* Reads variables likewise. */
int symtab_init_data(struct symtab *t, Elf *elf, uint32_t type, uint64_t shift);
/* Adds a function, or one more name for it; the name is borrowed.  Those that
 * are preferred go before others of the same address.  Returns 0 or CST_MEMORY.
 * Behind the last one, symtab_order() makes them ready for symtab_find(). */
int symtab_add(struct symtab *t, const char *name, uint64_t start, uint64_t end,
	       int is_preferred);
void symtab_order(struct symtab *t);
void symtab_release(struct symtab *t);

/* The best symbol that contains addr, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr);

/* 1: the symbol has no size and was taken to reach to the next one. */
int symtab_is_unsized(const struct symtab_entry *e);

/* The function that a "foo.cold", "foo.cold.3" or "foo.part.0" (its rarer half,
 * which it jumps to or calls) was split from: foo of the same source file, or
 * the global (or hidden) one; else the entry itself. */
const struct symtab_entry *symtab_whole(struct symtab *t,
					const struct symtab_entry *e);

#endif
