/* SPDX-License-Identifier: MIT
 *
 * Decodes with Zydis.  An instruction that is not known makes what it writes
 * unknown; one that may go two ways ends the line, but for the check that a
 * stack protector makes.
 */
#include "args/flow.h"
#include "args/code.h"

enum { MAX_STEPS = 48, RSP = 4, RBP = 5 };

static void flow_begin(struct flow *f)
{
	*f = (struct flow){0};
	for (int i = 0; i < 16; i++) {
		int reg = code_register(i);

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
	int slot = mem->base == ZYDIS_REGISTER_NONE ? -1 : code_slot(mem->base);

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
		slot = code_slot(o->reg.value);
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
	slot = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? code_slot(o->reg.value)
						      : -1;
	if (slot < 0)
		return;
	if (value.size > size)
		value.size = size;
	if (slot < FLOW_XMM && size == 4) {
		value.is_zeroed = value.size == 4 || value.is_zeroed;
		if (value.reach > 4)
			value.reach = 4;
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

/* To all of the register that it is written to. */
static void widen(struct flow_value *value, int is_signed)
{
	value->is_signed = is_signed != 0;
	value->is_zeroed = !is_signed;
	value->reach = 8;
}

/* A plain move of so many bytes at the most. */
static void move_low(struct flow *f, const struct code_line *l, uint8_t size)
{
	struct flow_value value;

	if (l->is.operand_count_visible != 2) {
		forget(f, l);
		return;
	}
	value = read_operand(f, &l->of[1]);
	if (value.size > size) {
		value.size = size;
		value.is_zeroed = value.is_signed = 0;
	}
	write_operand(f, &l->of[0], value);
}

static void move(struct flow *f, const struct code_line *l, int is_signed)
{
	struct flow_value value = read_operand(f, &l->of[1]);

	widen(&value, is_signed);
	write_operand(f, &l->of[0], value);
}

/* cbw, cwde, cdqe: the low half of rax, widened by its sign. */
static void widen_rax(struct flow *f, uint8_t to)
{
	struct flow_value *value = &f->values[FLOW_RAX];

	if (value->size > to / 2)
		value->size = to / 2;
	if (value->size < to / 2 &&
	    !(value->is_signed && value->reach >= to / 2)) {
		*value = (struct flow_value){0};
		return;
	}
	widen(value, 1);
	value->reach = to;
}

static void add_constant(struct flow *f, const struct code_line *l, int64_t add)
{
	struct flow_value value = read_operand(f, &l->of[0]);

	if (l->of[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    l->of[0].size < 32 || value.size < l->of[0].size / 8 ||
	    (value.kind != FLOW_REGISTER && value.kind != FLOW_MEMORY)) {
		forget(f, l);
		return;
	}
	value.add += add;
	value.is_signed = value.is_zeroed = 0;
	write_operand(f, &l->of[0], value);
}

/* Adds to a register, or leaves it unknown. */
static void add(struct flow *f, const struct code_line *l, int sign)
{
	struct flow_value other = read_operand(f, &l->of[1]);

	if (other.kind != FLOW_CONSTANT) {
		forget(f, l);
		return;
	}
	add_constant(f, l, sign * other.add);
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
	    l->of[1].imm.value.u == 1 && value.kind == FLOW_CONSTANT) {
		value.add &= 1;
		write_operand(f, &l->of[0], value);
	} else if (l->of[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
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

/* Some of a long double's bytes are but padding. */
static void store_float(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count_visible; i++)
		if (l->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			write_operand(f, &l->of[i], f->values[FLOW_ST]);
	/* What was below it is not known. */
	f->values[FLOW_ST] = (struct flow_value){0};
}

static void lea(struct flow *f, const struct code_line *l)
{
	struct flow_value addr = {.kind = FLOW_ADDRESS, .size = 8};
	const ZydisDecodedOperandMem *mem = &l->of[1].mem;

	if (mem->base == ZYDIS_REGISTER_RIP)
		addr.add = (int64_t)(l->pc + l->is.length +
				     (uint64_t)mem->disp.value);
	else if (!address_of(f, mem, &addr))
		addr = (struct flow_value){0};
	write_operand(f, &l->of[0], addr);
}

static void look_for_guard(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count; i++)
		if (l->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    l->of[i].mem.segment == ZYDIS_REGISTER_FS)
			f->has_guard = 1;
}

/* How many bytes of a value it moves; 0: it is no plain move. */
static int moved_bytes(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
		return 16;
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_VMOVSS:
		return 4;
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_VMOVLPD:
		return 8;
	default:
		return 0;
	}
}

/* What computes a number, or forgets one. */
static void compute(struct flow *f, const struct code_line *l)
{
	switch (l->is.mnemonic) {
	case ZYDIS_MNEMONIC_CBW:
		widen_rax(f, 2);
		break;
	case ZYDIS_MNEMONIC_CWDE:
		widen_rax(f, 4);
		break;
	case ZYDIS_MNEMONIC_CDQE:
		widen_rax(f, 8);
		break;
	case ZYDIS_MNEMONIC_ADD:
		add(f, l, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		add(f, l, -1);
		break;
	case ZYDIS_MNEMONIC_INC:
		add_constant(f, l, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		add_constant(f, l, -1);
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
	default:
		forget(f, l);
	}
}

static void execute(struct flow *f, const struct code_line *l)
{
	int bytes = moved_bytes(l->is.mnemonic);

	if (bytes) {
		move_low(f, l, (uint8_t)bytes);
		return;
	}
	switch (l->is.mnemonic) {
	case ZYDIS_MNEMONIC_MOVZX:
		move(f, l, 0);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		move(f, l, 1);
		break;
	case ZYDIS_MNEMONIC_LEA:
		lea(f, l);
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
			       ? code_slot(l->of[0].reg.value)
			       : -1);
		break;
	case ZYDIS_MNEMONIC_FLD:
		load_float(f, l);
		break;
	case ZYDIS_MNEMONIC_FSTP:
		store_float(f, l);
		break;
	default:
		compute(f, l);
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
	for (int i = 0; i < MAX_STEPS && hook && code_decode(m, hook, &l);
	     i++) {
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

uint32_t flow_calls(struct modules *m, uint64_t start, uint64_t end,
		    uint64_t *out, uint32_t n)
{
	uint32_t n_found = 0;
	struct code_line l;

	while (start < end && n_found < n && code_decode(m, start, &l)) {
		start += l.is.length;
		if (l.is.meta.category == ZYDIS_CATEGORY_CALL)
			out[n_found++] = start;
	}
	return n_found;
}
