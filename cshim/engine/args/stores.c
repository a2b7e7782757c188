/* SPDX-License-Identifier: MIT
 *
 * Goes through the code as it lies, whatever ways there are through it.
 */
#include "args/stores.h"
#include "args/code.h"

enum { MAX_SCAN = 4096 };

/* The registers of a frame, from its CFA, as far as they are known. */
struct scan {
	const struct stores_slot *slot;
	int64_t sp, fp;
};

static int is_in_slot(const struct scan *s, int64_t at, uint32_t size)
{
	const struct stores_slot *slot = s->slot;

	return at != STORES_NO_OFFSET && slot->cfa_offset != STORES_NO_OFFSET &&
	       at < slot->cfa_offset + (int64_t)slot->size &&
	       slot->cfa_offset < at + (int64_t)size;
}

static int64_t plus(int64_t offset, int64_t add)
{
	return offset == STORES_NO_OFFSET ? offset : offset + add;
}

static int64_t from_cfa(const struct scan *s, const ZydisDecodedOperandMem *mem)
{
	if (mem->index != ZYDIS_REGISTER_NONE)
		return STORES_NO_OFFSET;
	if (mem->base == ZYDIS_REGISTER_RSP)
		return plus(s->sp, mem->disp.value);
	return mem->base == ZYDIS_REGISTER_RBP ? plus(s->fp, mem->disp.value)
					       : STORES_NO_OFFSET;
}

static int operand_stores(const struct scan *s, const ZydisDecodedOperand *o)
{
	const struct stores_slot *slot = s->slot;
	int64_t at = o->mem.disp.value;
	uint32_t size = o->size / 8;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
	    o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return 0;
	if (is_in_slot(s, from_cfa(s, &o->mem), size))
		return 1;
	return at < slot->offset + (int64_t)slot->size &&
	       slot->offset < at + (int64_t)size &&
	       o->mem.index == ZYDIS_REGISTER_NONE &&
	       code_slot(o->mem.base) >= 0 &&
	       code_register(code_slot(o->mem.base)) == slot->reg;
}

static int64_t moved_sp(const struct scan *s, const struct code_line *l)
{
	const ZydisDecodedOperand *from = &l->of[1];

	if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    l->is.mnemonic == ZYDIS_MNEMONIC_SUB)
		return plus(s->sp, -from->imm.value.s);
	if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    l->is.mnemonic == ZYDIS_MNEMONIC_ADD)
		return plus(s->sp, from->imm.value.s);
	if (l->is.mnemonic == ZYDIS_MNEMONIC_LEA)
		return from_cfa(s, &from->mem);
	return STORES_NO_OFFSET;
}

/* What the instruction makes of the frame's registers. */
static void scan_registers(struct scan *s, const struct code_line *l)
{
	const ZydisDecodedOperand *to = &l->of[0], *from = &l->of[1];

	if (l->is.mnemonic == ZYDIS_MNEMONIC_PUSH) {
		s->sp = plus(s->sp, -8);
	} else if (l->is.mnemonic == ZYDIS_MNEMONIC_POP) {
		s->sp = plus(s->sp, 8);
	} else if (l->is.meta.category == ZYDIS_CATEGORY_RET ||
		   l->is.meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
		/* What follows comes from elsewhere. */
		s->sp = s->fp = STORES_NO_OFFSET;
	} else if (to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		   to->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
		if (to->reg.value == ZYDIS_REGISTER_RSP)
			s->sp = moved_sp(s, l);
		else if (to->reg.value == ZYDIS_REGISTER_RBP)
			s->fp = l->is.mnemonic == ZYDIS_MNEMONIC_MOV &&
						from->type ==
							ZYDIS_OPERAND_TYPE_REGISTER &&
						from->reg.value ==
							ZYDIS_REGISTER_RSP
					? s->sp
					: STORES_NO_OFFSET;
	}
}

enum stores stores_before(struct modules *m, uint64_t start, uint64_t end,
			  const struct stores_slot *slot)
{
	struct scan s = {slot, -8, STORES_NO_OFFSET};
	int is_known = slot->is_by_fp || slot->cfa_offset != STORES_NO_OFFSET;
	struct code_line l;

	for (int i = 0; i < MAX_SCAN && start < end; i++) {
		if (!code_decode(m, start, &l))
			return STORES_MAYBE;
		for (int j = 0; j < l.is.operand_count; j++)
			if (operand_stores(&s, &l.of[j]))
				return STORES_SOMETHING;
		scan_registers(&s, &l);
		if (l.is.mnemonic == ZYDIS_MNEMONIC_PUSH &&
		    is_in_slot(&s, s.sp, 8))
			return STORES_SOMETHING;
		is_known = is_known &&
			   (slot->is_by_fp || s.sp != STORES_NO_OFFSET);
		start += l.is.length;
	}
	return start < end || !is_known ? STORES_MAYBE : STORES_NOT;
}
