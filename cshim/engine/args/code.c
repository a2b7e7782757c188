/* SPDX-License-Identifier: MIT
 *
 * Decodes with Zydis what the program's files hold.
 */
#include "args/code.h"
#include "args/flow.h"
#include "args/place.h"

enum { MAX_BYTES = 15 };

int code_decode(struct modules *m, uint64_t pc, struct code_line *out)
{
	ZydisDecoder decoder;
	uint8_t bytes[MAX_BYTES];
	size_t n = sizeof(bytes);

	out->pc = pc;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	/* Less where the code ends. */
	while (n && !modules_bytes(m, pc, bytes, n))
		n--;
	return n && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n,
							&out->is, out->of));
}

int code_slot(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
		if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
			return -1;
		/* fall through */
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
			ZYDIS_MACHINE_MODE_LONG_64, reg));
	case ZYDIS_REGCLASS_XMM:
		return ZydisRegisterGetId(reg) < 16
			       ? FLOW_XMM + ZydisRegisterGetId(reg)
			       : -1;
	default:
		return -1;
	}
}

/* The number of a general register in DWARF tells it. */
int code_register(int slot)
{
	static const uint8_t dwarf[16] = {0, 2, 1,  3,	7,  6,	4,  5,
					  8, 9, 10, 11, 12, 13, 14, 15};

	return slot < 16 ? place_register(dwarf[slot]) : -1;
}
