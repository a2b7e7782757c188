/* SPDX-License-Identifier: MIT
 *
 * Decodes with Zydis.  An instruction that is not known makes what it writes
 * unknown; one that may go two ways ends the line, but for the check that a
 * stack protector makes.
 */
#include "args/flow.h"
#include "args/flow_numbers.h"
#include "args/flow_operands.h"

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

/* ---- instructions ---------------------------------------------------------
 */

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
		flow_forget(f, l);
		return;
	}
	value = flow_read(f, &l->of[1]);
	if (value.size > size) {
		value.size = size;
		value.is_zeroed = value.is_signed = 0;
	}
	flow_write(f, &l->of[0], value);
}

static void move(struct flow *f, const struct code_line *l, int is_signed)
{
	struct flow_value value = flow_read(f, &l->of[1]);
	uint32_t size = l->of[1].size / 8;

	/* All that it widens must be known. */
	if (value.size < size && value.is_zeroed)
		is_signed = 0;
	else if (value.size < size &&
		 !(is_signed && value.is_signed && value.reach >= size))
		value.kind = FLOW_UNKNOWN;
	widen(&value, is_signed);
	flow_write(f, &l->of[0], value);
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
	struct flow_value value = flow_read(f, &l->of[0]);

	if (l->of[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    l->of[0].size < 32 || value.size < l->of[0].size / 8 ||
	    (value.kind != FLOW_REGISTER && value.kind != FLOW_MEMORY)) {
		flow_compute(f, l);
		return;
	}
	value.add += add;
	value.is_signed = value.is_zeroed = 0;
	flow_write(f, &l->of[0], value);
}

/* Adds to a register, or leaves it unknown. */
static void add(struct flow *f, const struct code_line *l, int sign)
{
	struct flow_value other = flow_read(f, &l->of[1]);

	if (other.kind != FLOW_CONSTANT) {
		flow_compute(f, l);
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
		flow_write(f, &l->of[0], zero);
	else
		flow_compute(f, l);
}

/* clang makes a bool of a byte so: it is one already. */
static void and_one(struct flow *f, const struct code_line *l)
{
	struct flow_value value = flow_read(f, &l->of[0]);

	if (l->of[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    l->of[1].imm.value.u == 1 && value.kind == FLOW_CONSTANT) {
		value.add &= 1;
		flow_write(f, &l->of[0], value);
	} else if (l->of[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		   l->of[1].imm.value.u == 1 && value.kind == FLOW_MEMORY) {
		value.size = 1;
		value.is_signed = 0;
		flow_write(f, &l->of[0], value);
	} else {
		flow_compute(f, l);
	}
}

static void push(struct flow *f, const struct code_line *l)
{
	struct flow_value *sp = &f->values[RSP];

	sp->add -= 8;
	if (sp->kind == FLOW_REGISTER)
		flow_store_at(f, sp, 8, flow_read(f, &l->of[0]));
}

static void pop(struct flow *f, int slot)
{
	struct flow_value *sp = &f->values[RSP];
	ZydisDecodedOperandMem top = {.base = ZYDIS_REGISTER_RSP};
	struct flow_value value = flow_load(f, &top, 8);

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
	f->values[FLOW_ST] = o ? flow_read(f, o) : (struct flow_value){0};
}

/* Some of a long double's bytes are but padding. */
static void store_float(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count_visible; i++)
		if (l->of[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			flow_write(f, &l->of[i], f->values[FLOW_ST]);
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
	else if (!flow_address(f, mem, &addr)) {
		flow_compute(f, l);
		return;
	}
	flow_write(f, &l->of[0], addr);
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

/* What makes another number of one. */
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
		flow_compute(f, l);
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
	f->hook = hook;
	for (int i = 0; i < MAX_STEPS && hook && code_decode(m, hook, &l);
	     i++) {
		if (l.is.meta.category == ZYDIS_CATEGORY_RET)
			return 1;
		hook = next_of(f, &l);
		look_for_guard(f, &l);
		if (l.is.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
		    l.is.meta.category == ZYDIS_CATEGORY_COND_BR)
			continue;
		f->next = l.pc + l.is.length;
		if (flow_ends_comparison(&l))
			f->compared.size = 0;
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
