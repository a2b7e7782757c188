/* SPDX-License-Identifier: MIT
 *
 * Call frame information of one ELF file: how a frame's CFA is found, and where
 * functions without a symbol begin.
 */
#ifndef ENGINE_CFI_H
#define ENGINE_CFI_H

#include "base/ranges.h"
#include "elf/modules.h"

#include <elfutils/libdw.h>

struct cfi {
	Elf *elf;
	Dwarf_CFI *frames;   /* of .eh_frame, or NULL */
	struct range *parts; /* what each FDE describes */
	uint32_t n_parts, cap_parts;
	int has_parts; /* they were read */
};

/* Prepares c; elf is borrowed until cfi_release(). */
void cfi_init(struct cfi *c, Elf *elf);
/* Frees the memory of c. */
void cfi_release(struct cfi *c);

/* Sets cfa_base and cfa_offset of *out to the rule at addr, an address in the
 * file.  Returns 1, or 0 if .eh_frame has none. */
int cfi_rule(struct cfi *c, uint64_t addr, struct code *out);

/* Does so from another table (.debug_frame). */
int cfi_rule_of(Dwarf_CFI *frames, uint64_t addr, struct code *out);

/* Returns what the FDE at addr describes, borrowed until cfi_release(), or NULL
 * if there is none. */
const struct range *cfi_part(struct cfi *c, uint64_t addr);

#endif
