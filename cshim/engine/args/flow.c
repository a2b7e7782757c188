/* SPDX-License-Identifier: MIT
 *
 * Decodes with Zydis.  An instruction that is not known makes what it writes
 * unknown; one that may go two ways ends the line, but for the check that a
 * stack protector makes.
 */
#include "args/flow.h"
#include "args/place.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum { MAX_STEPS = 48, MAX_BYTES = 15, RSP = 4, RBP = 5 };

/* One instruction. */
struct code_line {
	uint64_t pc;
	ZydisDecodedInstruction is;
	ZydisDecodedOperand of[ZYDIS_MAX_OPERAND_COUNT];
};

static int decode(struct modules *m, uint64_t pc, struct code_line *out)
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

/* ---- registers ------------------------------------------------------------
 */

/* Its place in the flow, or -1. */
static int slot_of(ZydisRegister reg)
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
static int copy_register(int slot)
{
	static const uint8_t dwarf[16] = {0, 2, 1,  3,	7,  6,	4,  5,
					  8, 9, 10, 11, 12, 13, 14, 15};

	return slot < 16 ? place_register(dwarf[slot]) : -1;
}

static void flow_begin(struct flow *f)
{
	*f = (struct flow){0};
	for (int i = 0; i < 16; i++) {
		int reg = copy_register(i);

		if (reg >= 0)
			f->values[i] = (struct flow_value){
				.kind = FLOW_REGISTER,
				.reg = (uint8_t)reg,
				.size = 8,
			};
	}
}

/* ---- memory ---------------------------------------------------------------
 */

/* The address of an operand as a register and an offset; 0: not known. */
static int address_of(const struct flow *f, const ZydisDecodedOperandMem *mem,
		      struct flow_value *out)
{
	int slot = mem->base == ZYDIS_REGISTER_NONE ? -1 : slot_of(mem->base);

	if (slot < 0 || mem->index != ZYDIS_REGISTER_NONE ||
	    mem->segment == ZYDIS_REGISTER_FS ||
	    mem->segment == ZYDIS_REGISTER_GS)
		return 0;
	*out = f->values[slot];
	out->add += mem->disp.value;
	return out->kind == FLOW_REGISTER && out->size == 8 &&
	       out->add >= INT32_MIN && out->add <= INT32_MAX;
}

static int overlaps(const struct flow_store *s, const struct flow_value *addr,
		    uint32_t size)
{
	return s->reg == addr->reg && s->offset < addr->add + (int64_t)size &&
	       addr->add < s->offset + (int64_t)s->size;
}

static struct flow_value load(const struct flow *f,
			      const ZydisDecodedOperandMem *mem, uint32_t size)
{
	struct flow_value addr, unknown = {0};

	if (!address_of(f, mem, &addr))
		return unknown;
	for (uint32_t i = f->n_stores; i-- > 0;) {
		const struct flow_store *s = &f->stores[i];

		if (!overlaps(s, &addr, size))
			continue;
		if (s->offset != addr.add || s->size < size)
			return unknown;
		addr = s->value;
		if (addr.size > size)
			addr.size = (uint8_t)size;
		return addr;
	}
	return (struct flow_value){.kind = FLOW_MEMORY,
				   .reg = addr.reg,
				   .size = (uint8_t)size,
				   .offset = (int32_t)addr.add};
}

static void store_at(struct flow *f, const struct flow_value *addr,
		     uint32_t size, struct flow_value value)
{
	if (f->n_stores == FLOW_STORES_MAX)
		return;
	f->stores[f->n_stores++] = (struct flow_store){
		addr->reg, (uint8_t)size, (int32_t)addr->add, value};
}

/* ---- operands -------------------------------------------------------------
 */

static struct flow_value read_operand(const struct flow *f,
				      const ZydisDecodedOperand *o)
{
	struct flow_value value = {0};
	uint8_t size = (uint8_t)(o->size / 8 < 16 ? o->size / 8 : 16);
	int slot;

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		slot = slot_of(o->reg.value);
		if (slot >= 0)
			value = f->values[slot];
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return load(f, &o->mem, size);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		value.kind = FLOW_CONSTANT;
		value.add = o->imm.value.s;
		value.size = 8;
		return value;
	default:
		break;
	}
	if (value.size > size)
		value.size = size;
	return value;
}

static void write_operand(struct flow *f, const ZydisDecodedOperand *o,
			  struct flow_value value)
{
	uint8_t size = (uint8_t)(o->size / 8 < 16 ? o->size / 8 : 16);
	struct flow_value addr;
	int slot;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (value.size < size && !value.is_zeroed)
			value.kind = FLOW_UNKNOWN;
		if (address_of(f, &o->mem, &addr))
			store_at(f, &addr, size, value);
		return;
	}
	slot = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? slot_of(o->reg.value)
						      : -1;
	if (slot < 0)
		return;
	if (value.size > size)
		value.size = size;
	if (slot < FLOW_XMM && size == 4) {
		value.is_zeroed = value.size == 4 || value.is_zeroed;
		if (value.kind == FLOW_CONSTANT) {
			value.add = (uint32_t)value.add;
			value.size = 8;
		}
	} else if (size < 4) {
		value.is_zeroed = value.is_signed = 0;
	}
	f->values[slot] = value;
}

/* ---- instructions ---------------------------------------------------------
 */

static void forget(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count; i++)
		if (l->of[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			write_operand(f, &l->of[i], (struct flow_value){0});
}

static void move(struct flow *f, const struct code_line *l, int is_signed,
		 int is_zeroed)
{
	struct flow_value value;

	if (l->is.operand_count_visible != 2) {
		forget(f, l);
		return;
	}
	value = read_operand(f, &l->of[1]);
	if (is_signed || is_zeroed) {
		value.is_signed = (uint8_t)is_signed;
		value.is_zeroed = (uint8_t)is_zeroed;
	}
	write_operand(f, &l->of[0], value);
}

/* Adds to a register, or leaves it unknown. */
static void add(struct flow *f, const struct code_line *l, int sign)
{
	struct flow_value value = read_operand(f, &l->of[0]);
	struct flow_value other = read_operand(f, &l->of[1]);

	if (l->of[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    l->of[0].size != 64 || value.kind != FLOW_REGISTER ||
	    other.kind != FLOW_CONSTANT) {
		forget(f, l);
		return;
	}
	value.add += sign * other.add;
	write_operand(f, &l->of[0], value);
}

/* One and the same register twice: 0. */
static void clear(struct flow *f, const struct code_line *l)
{
	struct flow_value zero = {.kind = FLOW_CONSTANT, .size = 16};

	if (l->is.operand_count_visible == 2 &&
	    l->of[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    l->of[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    l->of[0].reg.value == l->of[1].reg.value)
		write_operand(f, &l->of[0], zero);
	else
		forget(f, l);
}

/* clang makes a bool of a byte so: it is one already. */
static void and_one(struct flow *f, const struct code_line *l)
{
	struct flow_value value = read_operand(f, &l->of[0]);

	if (l->of[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    l->of[1].imm.value.u == 1 && value.kind == FLOW_MEMORY) {
		value.size = 1;
		value.is_signed = 0;
		write_operand(f, &l->of[0], value);
	} else {
		forget(f, l);
	}
}

static void push(struct flow *f, const struct code_line *l)
{
	struct flow_value *sp = &f->values[RSP];

	sp->add -= 8;
	if (sp->kind == FLOW_REGISTER)
		store_at(f, sp, 8, read_operand(f, &l->of[0]));
}

static void pop(struct flow *f, int slot)
{
	struct flow_value *sp = &f->values[RSP];
	ZydisDecodedOperandMem top = {.base = ZYDIS_REGISTER_RSP};
	struct flow_value value = load(f, &top, 8);

	sp->add += 8;
	if (slot >= 0)
		f->values[slot] = value;
}

static void load_float(struct flow *f, const struct code_line *l)
{
	const ZydisDecodedOperand *o = NULL;

	for (int i = 0; i < l->is.operand_count; i++)
		if (l->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			o = &l->of[i];
	f->values[FLOW_ST] = o ? read_operand(f, o) : (struct flow_value){0};
}

static void look_for_guard(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count; i++)
		if (l->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    l->of[i].mem.segment == ZYDIS_REGISTER_FS)
			f->has_guard = 1;
}

static void execute(struct flow *f, const struct code_line *l)
{
	struct flow_value addr;

	switch (l->is.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
		move(f, l, 0, 0);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		move(f, l, 0, 1);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		move(f, l, 1, 0);
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (!address_of(f, &l->of[1].mem, &addr))
			addr = (struct flow_value){0};
		write_operand(f, &l->of[0], addr);
		break;
	case ZYDIS_MNEMONIC_ADD:
		add(f, l, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		add(f, l, -1);
		break;
	case ZYDIS_MNEMONIC_AND:
		and_one(f, l);
		break;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
		clear(f, l);
		break;
	case ZYDIS_MNEMONIC_PUSH:
		push(f, l);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		f->values[RSP] = f->values[RBP];
		pop(f, RBP);
		break;
	case ZYDIS_MNEMONIC_POP:
		pop(f, l->of[0].type == ZYDIS_OPERAND_TYPE_REGISTER
			       ? slot_of(l->of[0].reg.value)
			       : -1);
		break;
	case ZYDIS_MNEMONIC_FLD:
		load_float(f, l);
		break;
	default:
		forget(f, l);
	}
}

/* Where it goes on after this instruction; 0: nowhere that is known. */
static uint64_t next_of(const struct flow *f, const struct code_line *l)
{
	uint64_t next = l->pc + l->is.length, target = 0;

	if (l->of[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    l->of[0].imm.is_relative)
		target = next + l->of[0].imm.value.u;
	switch (l->is.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return 0;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return target;
	case ZYDIS_CATEGORY_COND_BR:
		if (f->has_guard && l->is.mnemonic == ZYDIS_MNEMONIC_JZ)
			return target;
		return f->has_guard && l->is.mnemonic == ZYDIS_MNEMONIC_JNZ
			       ? next
			       : 0;
	default:
		return next;
	}
}

int flow_run(struct flow *f, struct modules *m, uint64_t hook)
{
	struct code_line l;

	flow_begin(f);
	for (int i = 0; i < MAX_STEPS && hook && decode(m, hook, &l); i++) {
		if (l.is.meta.category == ZYDIS_CATEGORY_RET)
			return 1;
		hook = next_of(f, &l);
		look_for_guard(f, &l);
		if (l.is.meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
		    l.is.meta.category != ZYDIS_CATEGORY_COND_BR)
			execute(f, &l);
	}
	return 0;
}

int flow_stored(const struct flow *f, int reg, int32_t offset, uint32_t size,
		struct flow_value *out)
{
	for (uint32_t i = 0; i < f->n_stores; i++) {
		const struct flow_store *s = &f->stores[i];

		if (s->reg != reg || s->offset != offset)
			continue;
		*out = s->value;
		return s->size >= size;
	}
	return 0;
}

int flow_has_store(struct modules *m, uint64_t start, uint64_t end, int reg,
		   int32_t offset)
{
	struct code_line l;

	for (int i = 0; i < 4 * MAX_STEPS && start < end; i++) {
		if (!decode(m, start, &l))
			return 1;
		for (int j = 0; j < l.is.operand_count; j++) {
			const ZydisDecodedOperand *o = &l.of[j];

			if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
			    o->mem.disp.value == offset &&
			    slot_of(o->mem.base) >= 0 &&
			    copy_register(slot_of(o->mem.base)) == reg)
				return 1;
		}
		start += l.is.length;
	}
	return start < end;
}
