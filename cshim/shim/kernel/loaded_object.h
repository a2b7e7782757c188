/* SPDX-License-Identifier: MIT
 *
 * Reads from memory what the dynamic linker has loaded, without a call to libc,
 * which would lock its own lock.
 */
#ifndef SHIM_LOADED_OBJECT_H
#define SHIM_LOADED_OBJECT_H

#include <link.h>
#include <stdint.h>

enum { N_TABLES = 2 };

/* What a library's dynamic section leads to. */
struct object {
	uint64_t bias;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;
	const char *soname;
	const Elf64_Rela *tables[N_TABLES];
	uint64_t sizes[N_TABLES];
	uint64_t n_constructors;
	int has_path; /* it has a run path, for libraries it opens */
};

/* Reads a loaded object; o points into its memory and is valid while it stays
 * loaded.  Returns 1, or 0 if it has no symbols. */
int object_read(struct object *o, const struct link_map *map);

/* Reads the object that dl_iterate_phdr() describes so. */
int object_read_info(struct object *o, const struct dl_phdr_info *info);

/* Returns a symbol that the library exports, by its table of type DT_GNU_HASH,
 * or NULL if it has none of that name. */
const Elf64_Sym *object_find(const struct object *o, const char *name);

/* Returns where the library keeps the address of a function that it calls, as
 * bound so far, or NULL if it calls none of that name. */
const uint64_t *object_slot(const struct object *o, const char *name);

/* Returns whether two texts are equal. */
int is_text(const char *a, const char *b);

#endif
