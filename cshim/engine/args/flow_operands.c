/* SPDX-License-Identifier: MIT
 *
 * What instructions read and write.  Loads behind a store are those of the
 * frame only: the store may have changed any other memory.
 */
#include "args/flow_operands.h"

/* ---- memory ---------------------------------------------------------------
 */

/* The address of an operand as a register and an offset; 0: not known. */
int flow_address(const struct flow *f, const ZydisDecodedOperandMem *mem,
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

static int put_link(struct flow_value *value, int64_t link)
{
	if (value->n_links == FLOW_LINKS_MAX || link < INT32_MIN ||
	    link > INT32_MAX)
		return 0;
	value->links[value->n_links++] = (int32_t)link;
	return 1;
}

/* What a pointer leads to that was read from memory, or an address in the
 * file: the hook's return address, on the stack, leads there. */
static struct flow_value
load_far(const struct flow *f, const ZydisDecodedOperandMem *mem, uint32_t size)
{
	struct flow_value value = {0}, unknown = {0};
	int64_t link = mem->disp.value;
	int slot = -1;

	if (f->n_stores || mem->index != ZYDIS_REGISTER_NONE ||
	    mem->segment == ZYDIS_REGISTER_FS ||
	    mem->segment == ZYDIS_REGISTER_GS)
		return unknown;
	if (mem->base == ZYDIS_REGISTER_RIP) {
		value.kind = FLOW_ADDRESS;
		value.add = (int64_t)f->next;
		value.size = 8;
	} else if (mem->base != ZYDIS_REGISTER_NONE) {
		slot = code_slot(mem->base);
		if (slot >= 0)
			value = f->values[slot];
	}
	link += value.add;
	value.add = 0;
	if (value.kind == FLOW_ADDRESS) {
		link -= (int64_t)f->hook;
		value.kind = FLOW_MEMORY;
		value.reg = CST_REG_SP;
		value.offset = -8;
	}
	if (value.kind != FLOW_MEMORY || value.size < 8 ||
	    !put_link(&value, link))
		return unknown;
	value.size = (uint8_t)size;
	value.is_zeroed = value.is_signed = value.reach = 0;
	return value;
}

struct flow_value flow_load(const struct flow *f,
			    const ZydisDecodedOperandMem *mem, uint32_t size)
{
	struct flow_value addr, unknown = {0};

	if (f->is_wild)
		return unknown;
	if (!flow_address(f, mem, &addr))
		return load_far(f, mem, size);
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

void flow_store_at(struct flow *f, const struct flow_value *addr, uint32_t size,
		   struct flow_value value)
{
	if (f->n_stores == FLOW_STORES_MAX) {
		f->is_wild = 1;
		return;
	}
	f->stores[f->n_stores++] = (struct flow_store){
		addr->reg, (uint8_t)size, (int32_t)addr->add, value};
}

/* ---- operands -------------------------------------------------------------
 */

struct flow_value flow_read(const struct flow *f, const ZydisDecodedOperand *o)
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
		return flow_load(f, &o->mem, size);
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

/* A part of a register that has no slot of its own, or what has one for its
 * part, is written. */
static void forget_around(struct flow *f, ZydisRegister reg)
{
	ZydisRegister all = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);
	int id = ZydisRegisterGetId(all);

	if (ZydisRegisterGetClass(all) == ZYDIS_REGCLASS_GPR64)
		f->values[id] = (struct flow_value){0};
	else if (ZydisRegisterGetClass(all) == ZYDIS_REGCLASS_ZMM && id < 16)
		f->values[FLOW_XMM + id] = (struct flow_value){0};
}

void flow_write(struct flow *f, const ZydisDecodedOperand *o,
		struct flow_value value)
{
	uint8_t size = (uint8_t)(o->size / 8 < 16 ? o->size / 8 : 16);
	struct flow_value addr;
	int slot;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (value.size < size && !value.is_zeroed)
			value.kind = FLOW_UNKNOWN;
		if (flow_address(f, &o->mem, &addr))
			flow_store_at(f, &addr, size, value);
		else
			f->is_wild = 1;
		return;
	}
	slot = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? code_slot(o->reg.value)
						      : -1;
	if (slot < 0 && o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		forget_around(f, o->reg.value);
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

void flow_forget(struct flow *f, const struct code_line *l)
{
	for (int i = 0; i < l->is.operand_count; i++)
		if (l->of[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			flow_write(f, &l->of[i], (struct flow_value){0});
}
