/* SPDX-License-Identifier: MIT
 *
 * Reads location expressions, those that compilers make for parameters.  A hook
 * has the registers that a function must keep for its caller, and what they
 * lead to: all else is gone.
 */
#include "args/place.h"
#include "elf/x86_64.h"

#include <dwarf.h>
#include <string.h>

int place_register(uint64_t number)
{
	switch (number) {
	case 3:
		return CST_REG_RBX;
	case PROCESSOR_DWARF_FP:
		return CST_REG_RBP;
	case PROCESSOR_DWARF_SP:
		return CST_REG_SP;
	case 12:
		return CST_REG_R12;
	case 13:
		return CST_REG_R13;
	case 14:
		return CST_REG_R14;
	case 15:
		return CST_REG_R15;
	default:
		return -1;
	}
}

static int fits(int64_t offset)
{
	return offset >= INT32_MIN / 2 && offset <= INT32_MAX / 2;
}

int place_follow(struct place *p)
{
	if (p->size)
		return 0;
	if (p->kind == PLACE_REGISTER && fits(p->add)) {
		p->kind = PLACE_MEMORY;
		p->is_far = 1;
		p->n = 1;
		p->links[0] = (int32_t)p->add;
		p->add = 0;
		return 1;
	}
	if (p->kind != PLACE_MEMORY || p->n == PLACE_LINKS_MAX || !fits(p->add))
		return 0;
	p->links[p->n++] = (int32_t)p->add;
	p->add = 0;
	return 1;
}

/* ---- expressions ----------------------------------------------------------
 */

/* What an expression has on its stack: one address or number, given as the
 * place whose value it would be. */
struct reading {
	const struct frame *frame;
	struct place top;
	int is_set, is_value, n_nested;
};

/* Where a patch has put the register with that number in DWARF; 0: nowhere. */
static int32_t patched_at(uint64_t number)
{
	enum { XMM = 17, N_XMM = 8 };
	static const int16_t general[] = {
		[0] = CST_PATCHED_RAX, [1] = CST_PATCHED_RDX,
		[2] = CST_PATCHED_RCX, [4] = CST_PATCHED_RSI,
		[5] = CST_PATCHED_RDI, [8] = CST_PATCHED_R8,
		[9] = CST_PATCHED_R9,
	};

	if (number < sizeof(general) / sizeof(general[0]))
		return general[number];
	if (number - XMM < N_XMM)
		return CST_PATCHED_XMM + 8 * (int32_t)(number - XMM);
	return 0;
}

static int patched_place(uint64_t number, struct place *out)
{
	int32_t at = patched_at(number);

	if (!at)
		return 0;
	*out = (struct place){
		.kind = PLACE_MEMORY, .reg = CST_REG_SP, .n = 1, .links = {at}};
	return 1;
}

static int set_register(struct reading *r, uint64_t number, int64_t add)
{
	int reg = place_register(number);

	if (r->is_set)
		return 0;
	if (r->frame->is_patched && number != PROCESSOR_DWARF_SP) {
		r->is_set = patched_place(number, &r->top);
		r->top.add = add;
		return r->is_set;
	}
	if (reg < 0)
		return 0;
	r->top = (struct place){
		.kind = PLACE_REGISTER, .reg = (uint8_t)reg, .add = add};
	r->is_set = 1;
	return 1;
}

static int set_constant(struct reading *r, uint64_t value)
{
	if (r->is_set)
		return 0;
	r->top = (struct place){.kind = PLACE_CONSTANT, .add = (int64_t)value};
	r->is_set = 1;
	return 1;
}

static int set_cfa(struct reading *r, int64_t add)
{
	const struct code *code = &r->frame->code;

	if (code->cfa_base != CFA_SP && code->cfa_base != CFA_FP)
		return 0;
	return set_register(r,
			    code->cfa_base == CFA_SP ? PROCESSOR_DWARF_SP
						     : PROCESSOR_DWARF_FP,
			    code->cfa_offset + add);
}

static int read_op(struct reading *r, const Dwarf_Op *op);

/* The frame's base is a register or an address in its turn. */
static int set_base(struct reading *r, int64_t add)
{
	Dwarf_Die function = r->frame->function;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (r->n_nested++ ||
	    !dwarf_attr_integrate(&function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, r->frame->pc, &ops, &n, 1) != 1 ||
	    n != 1)
		return 0;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return !r->frame->is_patched && /* else yet to be set */
		       set_register(r, ops->atom - DW_OP_reg0, add);
	if (!read_op(r, ops) || r->top.kind != PLACE_REGISTER)
		return 0;
	r->top.add += add;
	return 1;
}

static int read_number(struct reading *r, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return set_constant(r, op->number);
	case DW_OP_addr:
		if (!set_constant(r, op->number + r->frame->bias))
			return 0;
		r->top.is_address = 1;
		return 1;
	default:
		return 0;
	}
}

static int read_op(struct reading *r, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return set_register(r, op->atom - DW_OP_breg0,
				    (int64_t)op->number);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return set_constant(r, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_bregx:
		return set_register(r, op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		return set_base(r, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		return set_cfa(r, 0);
	case DW_OP_plus_uconst:
		if (!r->is_set)
			return 0;
		r->top.add += (int64_t)op->number;
		return 1;
	case DW_OP_deref:
		return r->is_set && place_follow(&r->top);
	case DW_OP_nop:
		return 1;
	case DW_OP_stack_value:
		r->is_value = 1;
		return r->is_set;
	default:
		return read_number(r, op);
	}
}

/* The bytes of a constant that stands in the expression. */
static int read_implicit(Dwarf_Attribute *attr, const Dwarf_Op *op,
			 struct place *out)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(attr, op, &block) ||
	    !block.length || block.length > 8)
		return 0;
	out->kind = PLACE_CONSTANT;
	memcpy(&out->add, block.data, block.length);
	return 1;
}

/* Where the address that was computed leads: the expression tells no value but
 * where one is. */
static int end_address(struct reading *r)
{
	struct place *p = &r->top;

	if (p->kind == PLACE_CONSTANT)
		return 0;
	if (!place_follow(p))
		return 0;
	/* The frame itself: no address that the program has computed. */
	if (p->n == 1 &&
	    (p->reg == CST_REG_SP ||
	     (p->reg == CST_REG_RBP && r->frame->code.cfa_base != CFA_SP)))
		p->is_far = 0;
	return 1;
}

/* A register, or an address, without what stands behind it. */
static int read_simple(const struct frame *f, const Dwarf_Op *ops, size_t n,
		       struct place *out)
{
	struct reading r = {.frame = f};
	int reg;

	if (n == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31) {
		if (f->is_patched)
			return patched_place(ops->atom - DW_OP_reg0, out);
		reg = place_register(ops->atom - DW_OP_reg0);
	} else {
		reg = -1;
	}
	if (reg >= 0) {
		*out = (struct place){.kind = PLACE_REGISTER,
				      .reg = (uint8_t)reg};
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		if (r.is_value || !read_op(&r, &ops[i]))
			return 0;
	if (!r.is_set || (!r.is_value && !end_address(&r)))
		return 0;
	*out = r.top;
	return 1;
}

static int add_piece(const struct frame *f, const Dwarf_Op *ops, size_t n,
		     uint64_t size, struct place *out)
{
	struct place part;

	if (out->n == PLACE_PIECES_MAX || !size || size > 8 ||
	    !read_simple(f, ops, n, &part) || part.add ||
	    (part.kind == PLACE_MEMORY && (part.n != 1 || part.is_far)) ||
	    (part.kind != PLACE_MEMORY && part.kind != PLACE_REGISTER))
		return 0;
	out->pieces[out->n++] = (struct piece){
		.is_register = part.kind == PLACE_REGISTER,
		.reg = part.reg,
		.size = (uint16_t)size,
		.offset = part.links[0],
	};
	return 1;
}

static int read_pieces(const struct frame *f, const Dwarf_Op *ops, size_t n,
		       struct place *out)
{
	size_t begin = 0;

	*out = (struct place){.kind = PLACE_PIECES};
	for (size_t i = 0; i < n; i++) {
		if (ops[i].atom != DW_OP_piece)
			continue;
		if (!add_piece(f, ops + begin, i - begin, ops[i].number, out))
			return 0;
		begin = i + 1;
	}
	return out->n && begin == n;
}

static int read_location(const struct frame *f, Dwarf_Attribute *attr,
			 struct place *out)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation_addr(attr, f->pc, &ops, &n, 1) != 1 || !n)
		return 0;
	if (ops[n - 1].atom == DW_OP_piece)
		return read_pieces(f, ops, n, out);
	if (n == 1 && ops->atom == DW_OP_implicit_value)
		return read_implicit(attr, ops, out);
	return read_simple(f, ops, n, out);
}

static int read_constant(Dwarf_Attribute *attr, struct place *out)
{
	Dwarf_Block block;
	Dwarf_Sword value;

	out->kind = PLACE_CONSTANT;
	if (!dwarf_formsdata(attr, &value)) {
		out->add = (int64_t)value;
		return 1;
	}
	if (dwarf_formblock(attr, &block) || !block.length || block.length > 8)
		return 0;
	memcpy(&out->add, block.data, block.length);
	return 1;
}

static int is_same_piece(const struct piece *a, const struct piece *b)
{
	return a->is_register == b->is_register && a->reg == b->reg &&
	       a->size == b->size && a->offset == b->offset;
}

int place_is_same(const struct place *a, const struct place *b)
{
	int is_in_pieces = a->kind == PLACE_PIECES;

	if (a->kind != b->kind || a->reg != b->reg || a->n != b->n ||
	    (!is_in_pieces && a->kind != PLACE_MEMORY))
		return 0;
	for (unsigned i = 0; i < a->n; i++)
		if (is_in_pieces ? !is_same_piece(&a->pieces[i], &b->pieces[i])
				 : a->links[i] != b->links[i])
			return 0;
	return 1;
}

void place_find(const struct frame *f, Dwarf_Die *die, struct place *out)
{
	Dwarf_Attribute attr;
	int found = 0;

	*out = (struct place){0};
	if (dwarf_attr(die, DW_AT_location, &attr))
		found = read_location(f, &attr, out);
	else if (dwarf_attr(die, DW_AT_const_value, &attr))
		found = read_constant(&attr, out);
	if (!found)
		*out = (struct place){0};
}
