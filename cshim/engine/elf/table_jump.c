/* SPDX-License-Identifier: MIT
 *
 * From the jump back: the add that its register was set by, and what the two
 * registers that this adds were set by.
 */
#include "elf/table_jump.h"

#include <Zydis/Zydis.h>

struct decoded {
	ZydisDecodedInstruction is;
	ZydisDecodedOperand of[ZYDIS_MAX_OPERAND_COUNT];
};

static int decode(struct decoded *d, const uint8_t *code, const uint8_t *end)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(
		&decoder, code, (ZyanUSize)(end - code), &d->is, d->of));
}

static ZydisRegister whole(ZydisRegister part)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						part);
}

static int sets(const struct decoded *d, ZydisRegister reg)
{
	for (int i = 0; i < d->is.operand_count; i++)
		if (d->of[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    d->of[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    whole(d->of[i].reg.value) == reg)
			return 1;
	return 0;
}

/* Finds what sets the register last before the n-th instruction.  Returns its
 * index, or -1. */
static int set_by(struct decoded *d, const uint8_t *const *code, int n,
		  const uint8_t *end, ZydisRegister reg)
{
	for (int i = n - 1; i >= 0; i--) {
		if (!decode(d, code[i], end))
			return -1;
		if (sets(d, reg))
			return i;
	}
	return -1;
}

/* Returns what a lea at addr loads, if that lies relative to it; else 0. */
static uint64_t address_of(const struct decoded *d, uint64_t addr)
{
	return d->is.mnemonic == ZYDIS_MNEMONIC_LEA &&
			       d->of[1].mem.base == ZYDIS_REGISTER_RIP
		       ? addr + d->is.length + (uint64_t)d->of[1].mem.disp.value
		       : 0;
}

uint64_t table_jump_base(const uint8_t *const *code, int n, const uint8_t *end,
			 uint64_t end_addr)
{
	struct decoded d, add;
	int at;

	if (n < 1 || !decode(&d, code[n - 1], end) ||
	    d.is.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    d.of[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	at = set_by(&add, code, n - 1, end, d.of[0].reg.value);
	if (at < 0 || add.is.mnemonic != ZYDIS_MNEMONIC_ADD ||
	    add.is.operand_width != 64)
		return 0;
	for (int i = 0; i < 2; i++) {
		uint64_t base = 0;
		int lea;

		if (add.of[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			return 0;
		lea = set_by(&d, code, at, end, add.of[i].reg.value);
		if (lea >= 0)
			base = address_of(
				&d, end_addr - (uint64_t)(end - code[lea]));
		if (base)
			return base;
	}
	return 0;
}
