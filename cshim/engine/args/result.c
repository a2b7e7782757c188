/* SPDX-License-Identifier: MIT
 *
 * The System V ABI says in which registers a result is at the function's end;
 * the code behind the hook says from where it gets there.
 */
#include "args/result.h"
#include "args/flow.h"
#include "args/moved.h"

/* Is the half of a struct that begins there made of floats alone? */
static int is_float_half(const struct types *t, const struct type *type,
			 uint32_t begin)
{
	int n = 0;

	for (uint32_t i = type->first; i < type->first + type->n; i++) {
		const struct field *f = &t->fields[i];

		if (f->offset < begin || f->offset >= begin + 8)
			continue;
		if (t->all[f->type].kind != TYPE_FLOAT)
			return 0;
		n++;
	}
	return n != 0;
}

/* What comes back in the registers of a struct, half by half. */
static int find_halves(const struct types *t, const struct type *type,
		       const struct flow *f, struct place *out)
{
	static const int numbers[] = {FLOW_RAX, FLOW_RDX};
	int n_numbers = 0, n_floats = 0;
	struct moved whole = {0};

	for (uint32_t begin = 0; begin < type->size; begin += 8) {
		uint32_t size = type->size - begin < 8 ? type->size - begin : 8;
		int from = type->kind == TYPE_STRUCT &&
					   is_float_half(t, type, begin)
				   ? FLOW_XMM + n_floats++
				   : numbers[n_numbers++];

		if (!moved_add(&whole, &f->values[from], size))
			return 0;
	}
	return moved_place(&whole, out);
}

static int find_scalar(const struct type *type, const struct flow *f,
		       struct place *out)
{
	int from = type->kind != TYPE_FLOAT ? FLOW_RAX
		   : type->size > 8	    ? FLOW_ST
					    : FLOW_XMM;
	/* All of the long double's bytes are not there. */
	uint32_t size = type->size > 8 ? 10 : type->size;
	const struct flow_value *value = &f->values[from];

	if (value->size < size && !value->is_zeroed &&
	    !(value->is_signed && value->reach >= size))
		return 0;
	if (!moved_scalar(value, out))
		return 0;
	if (value->size >= size)
		out->size = out->widening = 0;
	return 1;
}

int result_find(const struct types *t, uint32_t number, struct modules *m,
		uint64_t hook, struct place *out)
{
	const struct type *type = &t->all[number];
	struct flow f;

	if (type->kind == TYPE_VOID || type->kind == TYPE_OTHER ||
	    !flow_run(&f, m, hook))
		return 0;
	if (type_is_scalar(type) || type->kind == TYPE_REFERENCE)
		return find_scalar(type, &f, out);
	if (type->by_address)
		return moved_scalar(&f.values[FLOW_RAX], out) &&
		       place_follow(out);
	return find_halves(t, type, &f, out);
}
