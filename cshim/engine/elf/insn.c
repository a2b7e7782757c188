/* SPDX-License-Identifier: MIT
 *
 * Decodes an instruction with Zydis, and sorts it by what the planner may do
 * with it.
 */
#include "elf/insn.h"
#include "base/bytes.h"
#include "cstrace/engine.h"

#include <Zydis/Zydis.h>
#include <string.h>

static const ZydisDecoder *decoder(void)
{
	static __thread ZydisDecoder made;
	static __thread int is_made;

	if (!is_made) {
		ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
		is_made = 1;
	}
	return &made;
}

/* jcc, and neither loop nor jrcxz nor xbegin. */
static int is_branch(const ZydisDecodedInstruction *z)
{
	return (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		(z->opcode & 0xf0) == 0x70) ||
	       (z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
		(z->opcode & 0xf0) == 0x80);
}

static int is_trap(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       z->mnemonic == ZYDIS_MNEMONIC_HLT ||
	       z->mnemonic == ZYDIS_MNEMONIC_INT3;
}

/* Sets a register, not memory, which may be the stack's red zone. */
static int only_loads(const ZydisDecodedInstruction *z)
{
	int is_store = z->opcode == 0x88 || z->opcode == 0x89 ||
		       z->opcode == 0xc6 || z->opcode == 0xc7;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return 1;
	case ZYDIS_MNEMONIC_MOV:
		return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		       ((is_store && z->raw.modrm.mod == 3) ||
			z->opcode == 0x8a || z->opcode == 0x8b ||
			(z->opcode >= 0xb0 && z->opcode <= 0xbf));
	default:
		return 0;
	}
}

/* Numbers of the registers that arguments are in. */
static int is_argument(unsigned reg)
{
	enum { ARGUMENTS = 0x3c6 }; /* rcx, rdx, rsi, rdi, r8, r9 */

	return ARGUMENTS >> reg & 1;
}

/* What compilers begin functions with; of all else it is not looked for. */
static int keeps_arguments(const ZydisDecodedInstruction *z)
{
	unsigned base = z->raw.rex.B ? 8 : 0;
	int is_memory = z->raw.modrm.mod != 3;

	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
		       ((z->mnemonic == ZYDIS_MNEMONIC_MOVZX ||
			 z->mnemonic == ZYDIS_MNEMONIC_MOVSX) &&
			!is_argument(z->raw.modrm.reg +
				     (z->raw.rex.R ? 8 : 0)));
	switch (z->opcode) {
	case 0x68: /* push */
	case 0x6a:
		return 1;
	case 0x81: /* sub from rsp */
	case 0x83:
		return z->raw.modrm.mod == 3 && z->raw.modrm.reg == 5 &&
		       base + z->raw.modrm.rm == 4;
	case 0x29: /* to what they have first */
	case 0x31:
	case 0x89:
		return is_memory || !is_argument(base + z->raw.modrm.rm);
	case 0xc7:
		return is_memory;
	case 0x63: /* to what they have last */
	case 0x8b:
	case 0x8d:
		return !is_argument(z->raw.modrm.reg + (z->raw.rex.R ? 8 : 0));
	default:
		return (z->opcode & 0xf8) == 0x50 ||
		       ((z->opcode & 0xf8) == 0xb8 &&
			!is_argument(base + (z->opcode & 7)));
	}
}

/* pxor or xorps of one register with itself. */
static int clears_vector(const ZydisDecodedInstruction *z)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_PXOR ||
		z->mnemonic == ZYDIS_MNEMONIC_XORPS) &&
	       z->raw.modrm.mod == 3 && z->raw.modrm.reg == z->raw.modrm.rm &&
	       z->raw.rex.R == z->raw.rex.B;
}

/* iret and a far return go elsewhere. */
static enum insn_kind kind_of_return(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_RET &&
			       z->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR
		       ? INSN_RETURN
		       : INSN_IMMOVABLE;
}

/* "66 90" is one, too. */
static int is_short_nop(const ZydisDecodedInstruction *z)
{
	return z->opcode == 0x90 && z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       z->length <= 2 && !(z->attributes & ZYDIS_ATTRIB_HAS_REX);
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *z)
{
	int is_relative = z->raw.imm[0].is_relative;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return is_branch(z) ? INSN_BRANCH : INSN_IMMOVABLE;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (z->mnemonic != ZYDIS_MNEMONIC_JMP ||
		    z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return INSN_IMMOVABLE;
		return is_relative ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL:
		if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return INSN_IMMOVABLE;
		return is_relative ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return kind_of_return(z);
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return z->mnemonic == ZYDIS_MNEMONIC_NOP ? INSN_NOP
							 : INSN_PLAIN;
	default:
		if (is_trap(z))
			return INSN_TRAP;
		if (is_short_nop(z))
			return INSN_NOP;
		return is_relative ? INSN_IMMOVABLE : INSN_PLAIN;
	}
}

static int has_memory(const ZydisDecodedInstruction *z)
{
	return (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       z->raw.modrm.mod != 3;
}

/* Finds out how its operand in memory is addressed. */
static void read_operand(struct insn *out, const ZydisDecodedInstruction *z,
			 uint64_t addr)
{
	if (!has_memory(z)) {
		out->is_register = out->kind == INSN_JUMP_INDIRECT;
		return;
	}
	if (z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5) {
		out->is_relative = 1;
		out->data_at = z->raw.disp.offset;
		out->data = addr + z->length + (uint64_t)z->raw.disp.value;
		if (z->address_width != 64)
			out->kind = INSN_IMMOVABLE;
	} else if (z->raw.disp.size == 32 && z->raw.disp.value > 0) {
		out->constant = (uint32_t)z->raw.disp.value;
	}
	out->is_slot = out->kind == INSN_JUMP_INDIRECT &&
		       (out->is_relative || z->raw.modrm.rm != 4 ||
			z->raw.sib.index == 4);
}

static int gives_up(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_LEAVE ||
	       z->mnemonic == ZYDIS_MNEMONIC_POP ||
	       (z->mnemonic == ZYDIS_MNEMONIC_ADD && z->raw.imm[0].size &&
		z->raw.modrm.mod == 3 && z->raw.modrm.rm == 4 &&
		!z->raw.rex.B && z->raw.rex.W);
}

int insn_decode(struct insn *out, const uint8_t *bytes, uint64_t n,
		uint64_t addr)
{
	ZydisDecodedInstruction z;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		    decoder(), NULL, bytes,
		    n < CST_INSTRUCTION_MAX ? n : CST_INSTRUCTION_MAX, &z)))
		return 0;
	*out = (struct insn){.length = z.length, .kind = (uint8_t)kind_of(&z)};
	if (z.raw.imm[0].is_relative)
		out->target = addr + z.length + (uint64_t)z.raw.imm[0].value.s;
	else if (z.raw.imm[0].size == 32)
		out->constant = (uint32_t)z.raw.imm[0].value.u;
	out->condition = z.opcode & 15;
	out->only_loads = (uint8_t)only_loads(&z);
	out->keeps_arguments = (uint8_t)keeps_arguments(&z);
	out->clears_vector = (uint8_t)clears_vector(&z);
	out->gives_up = (uint8_t)gives_up(&z);
	out->is_address = z.mnemonic == ZYDIS_MNEMONIC_LEA;
	read_operand(out, &z, addr);
	return 1;
}

static int is_near_branch(const struct insn *i, const uint8_t *code)
{
	return i->kind == INSN_BRANCH && code[0] == 0x0f;
}

uint32_t cst_moved_instruction(const uint8_t *code, uint32_t n, uint64_t from,
			       uint64_t to, uint8_t out[CST_INSTRUCTION_MAX])
{
	struct insn i;
	int64_t distance;
	uint8_t *place;

	if (!insn_decode(&i, code, n, from) ||
	    (i.kind != INSN_PLAIN && i.kind != INSN_NOP &&
	     !is_near_branch(&i, code)))
		return 0;
	memcpy(out, code, i.length);
	if (!i.is_relative && i.kind != INSN_BRANCH)
		return i.length;
	place = out + (i.is_relative ? i.data_at : i.length - 4);
	distance = (int32_t)get_u32(place) + (int64_t)(from - to);
	if (distance != (int32_t)distance)
		return 0;
	put_u32(place, (uint32_t)distance);
	return i.length;
}
