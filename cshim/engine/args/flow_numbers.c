/* SPDX-License-Identifier: MIT
 *
 * A number of `size` bytes is the low part of a node.
 */
#include "args/flow_numbers.h"
#include "args/flow_operands.h"

#include <string.h>

/* ---- nodes ----------------------------------------------------------------
 */

static int add_node(struct flow *f, struct compute_node node)
{
	if (f->n_nodes == COMPUTE_MAX)
		return -1;
	f->nodes[f->n_nodes] = node;
	return (int)f->n_nodes++;
}

static int add_constant(struct flow *f, int64_t number)
{
	return add_node(f, (struct compute_node){.op = COMPUTE_CONSTANT,
						 .size = 8,
						 .number = number});
}

static int add_binary(struct flow *f, int op, uint32_t size, int a, int b)
{
	if (a < 0 || b < 0)
		return -1;
	return add_node(f, (struct compute_node){.op = (uint8_t)op,
						 .size = (uint8_t)size,
						 .a = (uint8_t)a,
						 .b = (uint8_t)b});
}

static int add_unary(struct flow *f, int op, uint32_t size, int a)
{
	return add_binary(f, op, size, a, a);
}

/* The low bytes of a register or of memory: one node, however often. */
static int add_input(struct flow *f, struct flow_value value, uint32_t size)
{
	value.size = (uint8_t)size;
	value.is_zeroed = value.is_signed = value.reach = 0;
	value.add = 0;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].op == COMPUTE_INPUT &&
		    !memcmp(&f->inputs[f->nodes[i].number], &value,
			    sizeof(value)))
			return (int)i;
	if (f->n_inputs == COMPUTE_INPUTS_MAX)
		return -1;
	f->inputs[f->n_inputs] = value;
	return add_node(f, (struct compute_node){.op = COMPUTE_INPUT,
						 .size = (uint8_t)size,
						 .number = f->n_inputs++});
}

int flow_node(struct flow *f, const struct flow_value *value, uint32_t size)
{
	uint32_t there = value->size < size ? value->size : size;
	int node = -1;

	if (value->kind == FLOW_CONSTANT)
		return add_constant(f, value->add);
	if (value->kind == FLOW_COMPUTED)
		node = value->offset;
	else if (value->kind == FLOW_REGISTER || value->kind == FLOW_MEMORY)
		node = add_input(f, *value, there);
	if (node >= 0 && value->add)
		node = add_binary(f, COMPUTE_ADD, there, node,
				  add_constant(f, value->add));
	if (node < 0 || there == size)
		return node;
	if (value->is_zeroed)
		return add_unary(f, COMPUTE_ZEROED, there, node);
	return value->is_signed && value->reach >= size
		       ? add_unary(f, COMPUTE_SIGNED, there, node)
		       : -1;
}

static int operand_node(struct flow *f, const ZydisDecodedOperand *o,
			uint32_t size)
{
	struct flow_value value = flow_read(f, o);

	return flow_node(f, &value, size);
}

/* Writes a number, into a register only. */
static void put_node(struct flow *f, const struct code_line *l, int node,
		     uint32_t size)
{
	struct flow_value value = {
		.kind = FLOW_COMPUTED,
		.size = (uint8_t)size,
		.offset = node,
	};

	flow_forget(f, l);
	if (node >= 0 && l->of[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		flow_write(f, &l->of[0], value);
}

/* ---- integers -------------------------------------------------------------
 */

/* a = a op b, or a = b op c. */
static int binary(struct flow *f, const struct code_line *l, int op,
		  uint32_t size)
{
	int first = l->is.operand_count_visible == 3;

	return add_binary(f, op, size, operand_node(f, &l->of[first], size),
			  operand_node(f, &l->of[first + 1], size));
}

static int shift(struct flow *f, const struct code_line *l, int op,
		 uint32_t size)
{
	int by = l->is.operand_count_visible == 2
			 ? operand_node(f, &l->of[1], 1)
			 : add_constant(f, 1);

	return add_binary(f, op, size, operand_node(f, &l->of[0], size), by);
}

static int scaled_address(struct flow *f, const struct code_line *l,
			  uint32_t size)
{
	const ZydisDecodedOperandMem *mem = &l->of[1].mem;
	int slot, all = add_constant(f, mem->disp.value);

	if (mem->base != ZYDIS_REGISTER_NONE) {
		slot = code_slot(mem->base);
		all = slot < 0 ? -1
			       : add_binary(
					 f, COMPUTE_ADD, size, all,
					 flow_node(f, &f->values[slot], size));
	}
	if (mem->index == ZYDIS_REGISTER_NONE || all < 0)
		return all;
	slot = code_slot(mem->index);
	return slot < 0 ? -1
			: add_binary(f, COMPUTE_ADD, size, all,
				     add_binary(f, COMPUTE_MUL, size,
						flow_node(f, &f->values[slot],
							  size),
						add_constant(f, mem->scale)));
}

/* ---- comparisons ----------------------------------------------------------
 */

int flow_ends_comparison(const struct code_line *l)
{
	const ZydisAccessedFlags *flags = l->is.cpu_flags;

	return flags && (flags->modified | flags->set_0 | flags->set_1 |
			 flags->undefined) &
				(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF |
				 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF);
}

static void note_comparison(struct flow *f, int a, int b, uint32_t size)
{
	if (a >= 0 && b >= 0)
		f->compared = (struct flow_compared){(uint8_t)size, (uint8_t)a,
						     (uint8_t)b};
}

/* The flags of a test, or of an `and`, are those of a comparison with 0. */
static void compare(struct flow *f, const struct code_line *l)
{
	uint32_t size = l->of[0].size / 8;

	if (l->is.mnemonic == ZYDIS_MNEMONIC_CMP)
		note_comparison(f, operand_node(f, &l->of[0], size),
				operand_node(f, &l->of[1], size), size);
	else
		note_comparison(f, binary(f, l, COMPUTE_AND, size),
				add_constant(f, 0), size);
}

/* Which relation it looks at; -1: none that is known. */
static int relation_of(ZydisMnemonic mnemonic)
{
	enum { NOT = COMPUTE_OPPOSITE };
	static const struct {
		ZydisMnemonic set, move;
		int relation;
	} all[] = {
		{ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_CMOVZ, COMPUTE_EQUAL},
		{ZYDIS_MNEMONIC_SETNZ, ZYDIS_MNEMONIC_CMOVNZ,
		 COMPUTE_EQUAL | NOT},
		{ZYDIS_MNEMONIC_SETL, ZYDIS_MNEMONIC_CMOVL, COMPUTE_LESS},
		{ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_CMOVNL,
		 COMPUTE_LESS | NOT},
		{ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_CMOVLE,
		 COMPUTE_LESS_EQUAL},
		{ZYDIS_MNEMONIC_SETNLE, ZYDIS_MNEMONIC_CMOVNLE,
		 COMPUTE_LESS_EQUAL | NOT},
		{ZYDIS_MNEMONIC_SETB, ZYDIS_MNEMONIC_CMOVB, COMPUTE_BELOW},
		{ZYDIS_MNEMONIC_SETNB, ZYDIS_MNEMONIC_CMOVNB,
		 COMPUTE_BELOW | NOT},
		{ZYDIS_MNEMONIC_SETBE, ZYDIS_MNEMONIC_CMOVBE,
		 COMPUTE_BELOW_EQUAL},
		{ZYDIS_MNEMONIC_SETNBE, ZYDIS_MNEMONIC_CMOVNBE,
		 COMPUTE_BELOW_EQUAL | NOT},
		{ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_CMOVS, COMPUTE_MINUS},
		{ZYDIS_MNEMONIC_SETNS, ZYDIS_MNEMONIC_CMOVNS,
		 COMPUTE_MINUS | NOT},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].set == mnemonic || all[i].move == mnemonic)
			return all[i].relation;
	return -1;
}

/* Whether the comparison came out so: 1 or 0. */
static int truth(struct flow *f, int relation)
{
	int node = f->compared.size && relation >= 0
			   ? add_binary(f, COMPUTE_COMPARE, f->compared.size,
					f->compared.a, f->compared.b)
			   : -1;

	if (node >= 0)
		f->nodes[node].how = (uint8_t)relation;
	return node;
}

static void decide(struct flow *f, const struct code_line *l)
{
	int node = truth(f, relation_of(l->is.mnemonic)), other;
	uint32_t size = l->of[0].size / 8;

	if (l->is.meta.category == ZYDIS_CATEGORY_CMOV && node >= 0) {
		other = operand_node(f, &l->of[1], size);
		node = add_binary(f, COMPUTE_CHOOSE, size, node,
				  operand_node(f, &l->of[0], size));
		if (node >= 0 && other >= 0)
			f->nodes[node].c = (uint8_t)other;
		else
			node = -1;
	}
	put_node(f, l, node, size);
}

/* ---- floating-point numbers -----------------------------------------------
 */

/* Makes a number of `to` bytes of one of `from`, or of the operand's (0). */
static void convert(struct flow *f, const struct code_line *l, int op,
		    uint32_t from, uint32_t to)
{
	const ZydisDecodedOperand *o =
		&l->of[l->is.operand_count_visible == 3 ? 2 : 1];
	int node;

	from = from ? from : o->size / 8;
	node = add_unary(f, op, to, operand_node(f, o, from));
	if (node >= 0)
		f->nodes[node].how = (uint8_t)from;
	put_node(f, l, node, to);
}

static int float_op(ZydisMnemonic mnemonic, uint32_t *size)
{
#define CASES(NAME, OP)                    \
	case ZYDIS_MNEMONIC_##NAME##SD:    \
	case ZYDIS_MNEMONIC_V##NAME##SD:   \
		*size = 8;                 \
		return COMPUTE_FLOAT_##OP; \
	case ZYDIS_MNEMONIC_##NAME##SS:    \
	case ZYDIS_MNEMONIC_V##NAME##SS:   \
		*size = 4;                 \
		return COMPUTE_FLOAT_##OP
	switch (mnemonic) {
		CASES(ADD, ADD);
		CASES(SUB, SUB);
		CASES(MUL, MUL);
		CASES(DIV, DIV);
	default:
		return -1;
	}
#undef CASES
}

static void compute_float(struct flow *f, const struct code_line *l)
{
	uint32_t size;
	int op = float_op(l->is.mnemonic, &size);

	if (op >= 0) {
		put_node(f, l, binary(f, l, op, size), size);
		return;
	}
	switch (l->is.mnemonic) {
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
		convert(f, l, COMPUTE_FLOAT_OF_INT, 0, 8);
		break;
	case ZYDIS_MNEMONIC_CVTSI2SS:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
		convert(f, l, COMPUTE_FLOAT_OF_INT, 0, 4);
		break;
	case ZYDIS_MNEMONIC_CVTSS2SD:
	case ZYDIS_MNEMONIC_VCVTSS2SD:
		convert(f, l, COMPUTE_FLOAT_OF_FLOAT, 4, 8);
		break;
	case ZYDIS_MNEMONIC_CVTSD2SS:
	case ZYDIS_MNEMONIC_VCVTSD2SS:
		convert(f, l, COMPUTE_FLOAT_OF_FLOAT, 8, 4);
		break;
	default:
		flow_forget(f, l);
	}
}

/* ---- all ------------------------------------------------------------------
 */

/* The operation on two numbers, or on the low bytes of vectors. */
static int binary_op(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		return COMPUTE_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return COMPUTE_SUB;
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_PAND:
	case ZYDIS_MNEMONIC_ANDPS:
	case ZYDIS_MNEMONIC_ANDPD:
		return COMPUTE_AND;
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_POR:
	case ZYDIS_MNEMONIC_ORPS:
	case ZYDIS_MNEMONIC_ORPD:
		return COMPUTE_OR;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
		return COMPUTE_XOR;
	default:
		return -1;
	}
}

static int other_op(struct flow *f, const struct code_line *l, uint32_t size)
{
	switch (l->is.mnemonic) {
	case ZYDIS_MNEMONIC_IMUL:
		return l->is.operand_count_visible > 1
			       ? binary(f, l, COMPUTE_MUL, size)
			       : -1;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return add_binary(
			f, COMPUTE_ADD, size, operand_node(f, &l->of[0], size),
			add_constant(f, l->is.mnemonic == ZYDIS_MNEMONIC_INC
						? 1
						: -1));
	case ZYDIS_MNEMONIC_SHL:
		return shift(f, l, COMPUTE_SHL, size);
	case ZYDIS_MNEMONIC_SHR:
		return shift(f, l, COMPUTE_SHR, size);
	case ZYDIS_MNEMONIC_SAR:
		return shift(f, l, COMPUTE_SAR, size);
	case ZYDIS_MNEMONIC_NEG:
		return add_unary(f, COMPUTE_NEG, size,
				 operand_node(f, &l->of[0], size));
	case ZYDIS_MNEMONIC_NOT:
		return add_unary(f, COMPUTE_NOT, size,
				 operand_node(f, &l->of[0], size));
	case ZYDIS_MNEMONIC_LEA:
		return scaled_address(f, l, size);
	default:
		return -1;
	}
}

void flow_compute(struct flow *f, const struct code_line *l)
{
	uint32_t size = l->of[0].size / 8 < 8 ? l->of[0].size / 8 : 8;
	int op = binary_op(l->is.mnemonic), node;

	if (l->is.mnemonic == ZYDIS_MNEMONIC_CMP ||
	    l->is.mnemonic == ZYDIS_MNEMONIC_TEST) {
		compare(f, l);
		return;
	}
	if (relation_of(l->is.mnemonic) >= 0) {
		decide(f, l);
		return;
	}
	node = op >= 0 ? binary(f, l, op, size) : other_op(f, l, size);
	if (node < 0) {
		compute_float(f, l);
		return;
	}
	put_node(f, l, node, size);
	if (op == COMPUTE_AND || op == COMPUTE_OR || op == COMPUTE_XOR)
		note_comparison(f, node, add_constant(f, 0), size);
}
