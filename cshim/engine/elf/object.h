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

/* Returns an object for what process pid has mapped there, or NULL when out of
 * memory.  The caller has one reference, and gives it back with
 * object_unref(). */
struct object *object_new(uint32_t pid, const struct mapping *mapping);
struct object *object_ref(struct object *o);
void object_unref(struct object *o);

/* Sets the build-id if the mapping has one: a file with another one will not be
 * opened. */
void object_tell_id(struct object *o, const struct mapping *mapping);

/* Returns whether the mapping is one of this very file, unchanged since. */
int object_is_of(const struct object *o, const struct mapping *mapping);

/* Says that the file at path (or NULL: there is none) has this build-id: if it
 * is the object's, that is read where the object's own file is not there. */
void object_set_copy(struct object *o, const char *build_id, const char *path);

/* Returns the path by which the process names it; borrowed. */
const char *object_path(const struct object *o);

/* Sets its separate debug file (copied; NULL: none), until one is found. */
void object_debug_file(struct object *o, const char *debug_file);

/* Returns whether the file can be read, for callers that know the bias. */
int object_is_there(struct object *o);

/* Finds the bias as elf_file_bias() does; returns 0 as well when the file
 * cannot be read. */
int object_bias(struct object *o, uint64_t addr, uint64_t offset,
		uint64_t *bias);

/* Returns 1, once, if the file was written to since it was mapped, so that
 * nothing in it can be trusted. */
int object_take_change(struct object *o);

/* The following functions may be called only after object_bias() or
 * object_is_there() has succeeded. */

/* Returns the symbol that contains addr, and in *table the table it stands in,
 * or NULL. */
const struct symtab_entry *object_symbol(struct object *o, uint64_t addr,
					 struct symtab **table);
/* Returns whether it is that of the linker's stubs. */
int object_is_stubs(const struct object *o, const struct symtab *table);
/* Returns whether a form of the function of that name begins at addr, or goes
 * on there. */
int object_is_form(struct object *o, uint64_t addr, const char *name);
/* Returns whether the file itself has a function or variable of that name for
 * others. */
int object_exports(struct object *o, const char *name);

/* Returns the variable that contains addr, or NULL. */
const struct symtab_entry *object_variable(struct object *o, uint64_t addr);
/* Cuts *start to *end, which contains addr, to what lies around it in no
 * variable, as addr does: object_variable() has found none there. */
void object_no_variable(const struct object *o, uint64_t addr, uint64_t *start,
			uint64_t *end);

/* Returns the functions of its most complete symbol table; borrowed. */
const struct symtab *object_functions(struct object *o);

/* Fills *out as modules_code() does.  Returns 1 if out->function was found. */
int object_code(struct object *o, uint64_t addr, struct code *out);

/* Copies n bytes of the file, as they are loaded at addr, to out.  Returns 0 if
 * they cannot be read. */
int object_bytes(struct object *o, uint64_t addr, void *out, size_t n);

/* Returns its inline tables, or NULL without debug information.  They expect
 * addresses less *shift. */
struct inlines *object_inlines(struct object *o, uint64_t *shift);

/* Returns whether object_inlines() has read them already. */
int object_has_inlines(const struct object *o);

/* Returns whether it has debug information that object_inlines() cannot
 * read. */
int object_is_foreign(struct object *o);
void object_build_id(struct object *o, char out[BUILD_ID_SIZE]);
int object_descriptor(const struct object *o);

#endif
