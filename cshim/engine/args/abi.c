/* SPDX-License-Identifier: MIT
 *
 * Counts registers and the words of the stack, as the caller has done.
 */
#include "args/abi.h"
#include "args/result.h"

enum { N_NUMBERS = 6, N_FLOATS = 8, HALF = 8 };

static const int16_t numbers[N_NUMBERS] = {CST_PATCHED_RDI, CST_PATCHED_RSI,
					   CST_PATCHED_RDX, CST_PATCHED_RCX,
					   CST_PATCHED_R8,  CST_PATCHED_R9};
static const int16_t results[] = {CST_PATCHED_RAX, CST_PATCHED_RDX};

/* One that has neither is of more bytes than its kind says, or of no kind. */
static int is_known(const struct type *type)
{
	if (type->kind == TYPE_OTHER || type->kind == TYPE_VOID)
		return 0;
	if (type->kind == TYPE_STRUCT && type->size > 2 * HALF)
		return 0; /* on the stack, or elsewhere with its address */
	return !type_is_scalar(type) || type->size <= HALF;
}

void abi_begin(struct abi *e, const struct types *t, uint32_t result)
{
	const struct type *type = &t->all[result];

	*e = (struct abi){0};
	/* Where the result is to be put. */
	if (type->by_address && type->kind != TYPE_REFERENCE)
		e->n_numbers = 1;
	else if (type->kind == TYPE_OTHER && type->size <= 2 * HALF)
		e->is_lost = 1;
}

static struct place at_sp(int32_t offset)
{
	return (struct place){.kind = PLACE_MEMORY,
			      .reg = CST_REG_SP,
			      .n = 1,
			      .links = {offset}};
}

static struct place on_stack(struct abi *e, uint32_t size)
{
	struct place p = at_sp((int32_t)(HALF + e->stack));

	e->stack += (size + HALF - 1) / HALF * HALF;
	return p;
}

static int32_t next_register(struct abi *e, int is_float)
{
	if (is_float)
		return CST_PATCHED_XMM + HALF * (int32_t)e->n_floats++;
	return e->is_result ? results[e->n_numbers++] : numbers[e->n_numbers++];
}

static struct place in_registers(struct abi *e, const struct types *t,
				 const struct type *type)
{
	struct place p = {.kind = PLACE_PIECES};
	uint32_t n_floats = 0, n = 0;

	for (uint32_t at = 0; at < type->size; at += HALF, n++)
		n_floats += type->kind == TYPE_STRUCT &&
			    result_is_float_half(t, type, at);
	if (e->n_floats + n_floats > N_FLOATS ||
	    e->n_numbers + n - n_floats > N_NUMBERS)
		return on_stack(e, type->size);
	for (uint32_t at = 0; at < type->size; at += HALF) {
		int is_float = type->kind == TYPE_STRUCT &&
			       result_is_float_half(t, type, at);
		uint32_t left = type->size - at;

		p.pieces[p.n++] = (struct piece){
			.reg = CST_REG_SP,
			.size = (uint16_t)(left < HALF ? left : HALF),
			.offset = next_register(e, is_float),
		};
	}
	return p;
}

static struct place place_of(struct abi *e, const struct types *t,
			     const struct type *type)
{
	int is_float = type->kind == TYPE_FLOAT;
	int is_one = type_is_scalar(type) || type->kind == TYPE_REFERENCE ||
		     type->by_address;
	struct place p;

	if (!is_one)
		return in_registers(e, t, type);
	if (is_float ? e->n_floats == N_FLOATS : e->n_numbers == N_NUMBERS)
		p = on_stack(e, HALF);
	else
		p = at_sp(next_register(e, is_float));
	if (type->by_address && type->kind != TYPE_REFERENCE)
		place_follow(&p);
	return p;
}

void abi_next(struct abi *e, const struct types *t, uint32_t type,
	      struct place *out)
{
	const struct type *of = &t->all[type];

	*out = (struct place){0};
	e->is_lost |= !is_known(of);
	if (!e->is_lost)
		*out = place_of(e, t, of);
}

int abi_result(const struct types *t, uint32_t type, struct place *out)
{
	const struct type *of = &t->all[type];
	struct abi e = {.is_result = 1};
	int is_there = of->by_address || is_known(of);

	if (is_there && of->kind != TYPE_OTHER)
		*out = place_of(&e, t, of);
	return is_there && of->kind != TYPE_OTHER;
}
