/* SPDX-License-Identifier: MIT
 *
 * Values that one piece of code moves: parts that come from neighbours in
 * memory are one piece of it.
 */
#include "args/moved.h"
#include "args/stores.h"

#include <string.h>

_Static_assert(FLOW_LINKS_MAX + 1 == PLACE_LINKS_MAX, "links of a place");

int moved_scalar(const struct flow_value *value, struct place *out)
{
	*out = (struct place){
		.reg = value->reg,
		.add = value->add,
		.size = value->is_zeroed || value->is_signed ? value->size : 0,
		.widening = value->is_zeroed   ? WIDEN_ZEROED
			    : value->is_signed ? WIDEN_SIGNED
					       : WIDEN_BY_TYPE,
	};
	switch (value->kind) {
	case FLOW_ADDRESS:
		out->is_address = 1;
		/* fall through */
	case FLOW_CONSTANT:
		out->kind = PLACE_CONSTANT;
		out->size = out->widening = 0;
		return 1;
	case FLOW_REGISTER:
		out->kind = PLACE_REGISTER;
		return 1;
	case FLOW_MEMORY:
		out->kind = PLACE_MEMORY;
		out->n = 1 + value->n_links;
		out->links[0] = value->offset;
		memcpy(&out->links[1], value->links, sizeof(value->links));
		return 1;
	default:
		return 0;
	}
}

int moved_add(struct moved *m, const struct flow_value *value, uint32_t size)
{
	if (m->n == PLACE_PIECES_MAX || value->size < size ||
	    value->kind == FLOW_UNKNOWN)
		return 0;
	m->sizes[m->n] = (uint8_t)size;
	m->parts[m->n++] = *value;
	return 1;
}

static int is_one_piece(const struct moved *m)
{
	int64_t at = m->parts[0].offset;

	for (int i = 0; i < m->n; i++) {
		const struct flow_value *part = &m->parts[i];

		if (part->kind != FLOW_MEMORY || part->add || part->n_links ||
		    part->reg != m->parts[0].reg || part->offset != at)
			return 0;
		at += m->sizes[i];
	}
	return 1;
}

int moved_place(const struct moved *m, struct place *out)
{
	if (m->n == 1 || (m->n && is_one_piece(m))) {
		if (!moved_scalar(&m->parts[0], out))
			return 0;
		/* All of the bytes are there. */
		out->size = out->widening = 0;
		return 1;
	}
	*out = (struct place){.kind = PLACE_PIECES};
	for (int i = 0; i < m->n; i++) {
		const struct flow_value *part = &m->parts[i];

		if (part->add || part->n_links ||
		    (part->kind != FLOW_REGISTER && part->kind != FLOW_MEMORY))
			return 0;
		out->pieces[out->n++] = (struct piece){
			.is_register = part->kind == FLOW_REGISTER,
			.reg = part->reg,
			.size = m->sizes[i],
			.offset = part->offset,
		};
	}
	return m->n != 0;
}

/* What is stored at the place, in one store or in parts. */
static int find_stores(const struct flow *f, const struct place *p,
		       uint32_t size, struct moved *out)
{
	uint32_t at = 0, step;
	struct flow_value value;

	for (; at < size; at += step) {
		for (step = size - at < 16 ? size - at : 16; step; step /= 2)
			if (flow_stored(f, p->reg, p->links[0] + (int32_t)at,
					step, &value))
				break;
		if (!step || !moved_add(out, &value, step))
			return 0;
	}
	return 1;
}

static struct stores_slot slot_of(const struct moved_function *of, int reg,
				  int32_t offset, uint32_t size)
{
	int is_of_fp = reg == CST_REG_RBP && of->code->cfa_base == CFA_FP;
	int is_of_sp = reg == CST_REG_SP && of->code->cfa_base == CFA_SP;

	return (struct stores_slot){
		.reg = reg,
		.offset = offset,
		.size = size,
		.cfa_offset = is_of_fp || is_of_sp
				      ? offset - of->code->cfa_offset
				      : STORES_NO_OFFSET,
		.is_by_fp = is_of_fp,
	};
}

/* Has the function not yet written what it keeps there for itself? */
static int is_unwritten(const struct moved_function *of, int reg,
			int32_t offset, uint32_t size)
{
	struct stores_slot slot = slot_of(of, reg, offset, size);

	return !of->is_inlined && slot.cfa_offset < 0 &&
	       stores_before(of->modules, of->start, of->hook, &slot) ==
		       STORES_NOT;
}

static void check_pieces(const struct moved_function *of, struct place *p)
{
	for (int i = 0; i < p->n; i++) {
		const struct piece *piece = &p->pieces[i];

		if (piece->is_register ||
		    !is_unwritten(of, piece->reg, piece->offset, piece->size))
			continue;
		*p = (struct place){0};
		return;
	}
}

/* What is stored behind the hook, by its place before it. */
static int find_source(const struct flow *f, const struct place *p,
		       uint32_t size, struct place *out)
{
	struct moved parts = {0};

	*out = (struct place){0};
	/* With more links it is the address that is stored there. */
	if (!find_stores(f, p, p->n > 1 ? 8 : size, &parts) ||
	    !moved_place(&parts, out))
		return 0;
	for (int i = 1; i < p->n; i++) {
		if (!place_follow(out))
			return 0;
		out->links[out->n - 1] += p->links[i];
	}
	out->add += p->n == 1 ? p->add : 0;
	return 1;
}

void moved_from(const struct moved_function *of, uint32_t size, struct place *p)
{
	struct stores_slot slot = slot_of(of, p->reg, p->links[0], size);
	struct flow_value value;
	enum stores before;
	struct place from;
	struct flow f;

	if (!of->start || of->hook <= of->start)
		return;
	if (p->kind == PLACE_PIECES)
		check_pieces(of, p);
	if (p->kind != PLACE_MEMORY || p->is_far)
		return;
	if (p->n > 1)
		slot.size = 8;
	before = stores_before(of->modules, of->start, of->hook, &slot);
	if (before == STORES_SOMETHING)
		return;
	flow_run(&f, of->modules, of->hook);
	if (!flow_stored(&f, p->reg, p->links[0], 1, &value)) {
		/* It was the caller's, or the debug information is wrong. */
		if (before == STORES_NOT && !of->is_inlined &&
		    slot.cfa_offset < 0)
			*p = (struct place){0};
		return;
	}
	if (before == STORES_MAYBE || !find_source(&f, p, size, &from))
		from = (struct place){0};
	*p = from;
}
