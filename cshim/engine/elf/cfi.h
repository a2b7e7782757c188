/* SPDX-License-Identifier: MIT
 *
 * Call frame information of one ELF file: how a frame's CFA is found, and
 * where functions begin that no symbol tells of.
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

/* elf is borrowed for the cfi's life. */
void cfi_init(struct cfi *c, Elf *elf);
void cfi_release(struct cfi *c);

/* The rule at addr, an address in the file: sets cfa_base and cfa_offset.
 * 0: .eh_frame has none. */
int cfi_rule(struct cfi *c, uint64_t addr, struct code *out);

/* The same, from another table (.debug_frame). */
int cfi_rule_of(Dwarf_CFI *frames, uint64_t addr, struct code *out);

/* The begin of what the FDE at addr describes; 0: there is no FDE. */
int cfi_function(struct cfi *c, uint64_t addr, uint64_t *start);

#endif
