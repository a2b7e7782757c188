/* SPDX-License-Identifier: MIT
 *
 * The words of a file that the dynamic linker fills with the addresses of the
 * compiler's hooks.
 */
#ifndef ENGINE_HOOK_SLOTS_H
#define ENGINE_HOOK_SLOTS_H

#include "elf/elffile.h"

/* Writes up to room slots of the file, by the addresses it is linked for.
 * Returns how many there are. */
uint32_t hook_slots_find(Elf *elf, struct cst_hook_slot *out, uint32_t room);

/* Returns 1 for the name of the hook of entries, 2 for that of exits, else 0.
 */
int hook_of_name(const char *name);

#endif
