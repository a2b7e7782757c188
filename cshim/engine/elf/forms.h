/* SPDX-License-Identifier: MIT
 *
 * The forms of a function that has one for each kind of processor: strlen() is
 * whichever of them its resolver (STT_GNU_IFUNC) returns as the program starts.
 */
#ifndef ENGINE_FORMS_H
#define ENGINE_FORMS_H

#include "elf/elffile.h"
#include "elf/symtab.h"

/* Makes a table of the forms of all functions that the file exports, named as
 * these are.  The names are borrowed from f.  A function whose resolver may
 * return what another file has is left out.  Free with symtab_release(). */
void forms_init(struct symtab *t, const struct elf_file *f);

#endif
