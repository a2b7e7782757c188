/* SPDX-License-Identifier: MIT
 *
 * One object file of the traced process, by the file's own addresses: it
 * is opened when it is first asked, and its tables are built when needed.
 */
#ifndef ENGINE_OBJECT_H
#define ENGINE_OBJECT_H

#include "elf/debugfile.h"
#include "elf/inlines.h"
#include "elf/maps.h"
#include "elf/modules.h"
#include "elf/symtab.h"

struct object;

/* For what process pid has mapped there; one reference is the caller's.
 * NULL: out of memory. */
struct object *object_new(uint32_t pid, const struct mapping *mapping);
struct object *object_ref(struct object *o);
void object_unref(struct object *o);

/* If the mapping tells the build-id, a file with another will not be opened. */
void object_tell_id(struct object *o, const struct mapping *mapping);

/* Is the mapping one of this very file, unchanged since? */
int object_is_of(const struct object *o, const struct mapping *mapping);

/* As the process names it; borrowed. */
const char *object_path(const struct object *o);

/* Tell its debug file (copied; NULL: none). Counts until one is found. */
void object_debug_file(struct object *o, const char *debug_file);

/* Can the file be read?  For who knows the bias. */
int object_is_there(struct object *o);

/* As elf_file_bias(); 0 as well when the file cannot be read. */
int object_bias(struct object *o, uint64_t addr, uint64_t offset,
		uint64_t *bias);

/* 1, once: the file was written to since it was mapped, so that nothing of it
 * can be told. */
int object_take_change(struct object *o);

/* These only after object_bias() or object_is_there() has succeeded. */

/* The symbol that contains addr and the table it stands in, or NULL. */
const struct symtab_entry *object_symbol(struct object *o, uint64_t addr,
					 const struct symtab **table);

/* All of its functions that a symbol table tells of: the most complete one that
 * there is; borrowed. */
const struct symtab *object_functions(struct object *o);

/* As modules_code(); 1: out->function was found. */
int object_code(struct object *o, uint64_t addr, struct code *out);

/* n bytes of the file, as they are loaded at addr.  0: cannot be read. */
int object_bytes(struct object *o, uint64_t addr, void *out, size_t n);

/* NULL: no debug information.  Takes addresses less *shift. */
struct inlines *object_inlines(struct object *o, uint64_t *shift);

/* Has it debug information that object_inlines() cannot read? */
int object_is_foreign(struct object *o);
void object_build_id(struct object *o, char out[BUILD_ID_SIZE]);
int object_descriptor(const struct object *o);

#endif
