/* SPDX-License-Identifier: MIT
 *
 * The System V ABI says in which registers a result is at the function's end;
 * the code behind the hook says from where it gets there.
 */
#include "args/result.h"
#include "args/flow.h"
#include "args/flow_numbers.h"
#include "args/moved.h"

int result_is_float_half(const struct types *t, const struct type *type,
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
					   result_is_float_half(t, type, begin)
				   ? FLOW_XMM + n_floats++
				   : numbers[n_numbers++];

		if (!moved_add(&whole, &f->values[from], size))
			return 0;
	}
	return moved_place(&whole, out);
}

/* Notes which nodes are needed: the last, and what these are computed of. */
static void mark_needed(const struct flow *f, uint32_t last, uint8_t *needed)
{
	needed[last] = 1;
	for (uint32_t i = last + 1; i-- > 0;) {
		const struct compute_node *n = &f->nodes[i];

		if (!needed[i] || n->op <= COMPUTE_CONSTANT)
			continue;
		needed[n->a] = needed[n->b] = 1;
		if (n->op == COMPUTE_CHOOSE)
			needed[n->c] = 1;
	}
}

static int add_input(const struct flow *f, const struct compute_node *from,
		     struct compute_node *node, struct computed *out)
{
	struct place *input = &out->inputs[out->n_inputs];

	if (!moved_scalar(&f->inputs[from->number], input))
		return 0;
	input->size = from->size;
	node->number = out->n_inputs++;
	return 1;
}

/* Takes what the number needs out of the flow. */
static int find_computed(struct flow *f, const struct flow_value *value,
			 uint32_t size, struct computed *out)
{
	uint8_t needed[COMPUTE_MAX] = {0}, numbers[COMPUTE_MAX] = {0};
	int last = flow_node(f, value, size);

	if (last < 0)
		return 0;
	out->n_nodes = out->n_inputs = 0;
	mark_needed(f, (uint32_t)last, needed);
	for (uint32_t i = 0; i <= (uint32_t)last; i++) {
		struct compute_node *node = &out->nodes[out->n_nodes];

		if (!needed[i])
			continue;
		*node = f->nodes[i];
		node->a = numbers[node->a];
		node->b = numbers[node->b];
		node->c = numbers[node->c];
		if (node->op == COMPUTE_INPUT &&
		    !add_input(f, &f->nodes[i], node, out))
			return 0;
		numbers[i] = (uint8_t)out->n_nodes++;
	}
	return 1;
}

static int find_scalar(const struct type *type, struct flow *f,
		       struct place *out, struct computed *computed)
{
	int from = type->kind != TYPE_FLOAT ? FLOW_RAX
		   : type->size > 8	    ? FLOW_ST
					    : FLOW_XMM;
	/* All of the long double's bytes are not there. */
	uint32_t size = type->size > 8 ? 10 : type->size;
	const struct flow_value *value = &f->values[from];

	if (value->kind == FLOW_COMPUTED) {
		*out = (struct place){.kind = PLACE_COMPUTED};
		return type->kind != TYPE_REFERENCE && size <= 8 &&
		       find_computed(f, value, size, computed);
	}
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
		uint64_t hook, struct place *out, struct computed *computed)
{
	const struct type *type = &t->all[number];
	struct flow f;

	if (type->kind == TYPE_VOID || type->kind == TYPE_OTHER ||
	    !flow_run(&f, m, hook))
		return 0;
	if (type_is_scalar(type) || type->kind == TYPE_REFERENCE)
		return find_scalar(type, &f, out, computed);
	if (type->by_address)
		return moved_scalar(&f.values[FLOW_RAX], out) &&
		       place_follow(out);
	return find_halves(t, type, &f, out);
}
