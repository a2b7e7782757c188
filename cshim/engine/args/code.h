/* SPDX-License-Identifier: MIT
 *
 * Instructions of the traced program, one by one.
 */
#ifndef ENGINE_CODE_H
#define ENGINE_CODE_H

#include "elf/modules.h"

#include <Zydis/Zydis.h>

struct code_line {
	uint64_t pc;
	ZydisDecodedInstruction is;
	ZydisDecodedOperand of[ZYDIS_MAX_OPERAND_COUNT];
};

/* Decodes the one at pc.  Returns 1, or 0 if there is none. */
int code_decode(struct modules *m, uint64_t pc, struct code_line *out);

/* Returns the place of a register in a flow, or -1. */
int code_slot(ZydisRegister reg);

/* Returns what a copy program calls the register with that place, or -1. */
int code_register(int slot);

#endif
