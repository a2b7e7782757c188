/* SPDX-License-Identifier: MIT
 *
 * The words of a file that the dynamic linker fills.
 */
#ifndef ENGINE_SLOTS_H
#define ENGINE_SLOTS_H

#include <gelf.h>
#include <libelf.h>

/* Calls see for each, with the name of the symbol that it gets the address of,
 * or NULL, which is borrowed from the Elf. */
void slots_each(Elf *elf,
		void (*see)(void *arg, const GElf_Rela *r, const char *name),
		void *arg);

#endif
