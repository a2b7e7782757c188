/* SPDX-License-Identifier: MIT
 *
 * Values that one piece of code moves: parts that come from neighbours in
 * memory are one piece of it.
 */
#include "args/moved.h"

int moved_scalar(const struct flow_value *value, struct place *out)
{
	*out = (struct place){.reg = value->reg, .add = value->add};
	switch (value->kind) {
	case FLOW_CONSTANT:
		out->kind = PLACE_CONSTANT;
		return 1;
	case FLOW_REGISTER:
		out->kind = PLACE_REGISTER;
		return 1;
	case FLOW_MEMORY:
		out->kind = PLACE_MEMORY;
		out->n = 1;
		out->links[0] = value->offset;
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

		if (part->kind != FLOW_MEMORY || part->add ||
		    part->reg != m->parts[0].reg || part->offset != at)
			return 0;
		at += m->sizes[i];
	}
	return 1;
}

int moved_place(const struct moved *m, struct place *out)
{
	if (m->n == 1 || (m->n && is_one_piece(m)))
		return moved_scalar(&m->parts[0], out);
	*out = (struct place){.kind = PLACE_PIECES};
	for (int i = 0; i < m->n; i++) {
		const struct flow_value *part = &m->parts[i];

		if (part->add || part->kind == FLOW_CONSTANT)
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
		for (step = size - at < 8 ? size - at : 8; step; step /= 2)
			if (flow_stored(f, p->reg, p->links[0] + (int32_t)at,
					step, &value))
				break;
		if (!step || !moved_add(out, &value, step))
			return 0;
	}
	return 1;
}

void moved_from(struct modules *m, uint64_t start, uint64_t hook, uint32_t size,
		struct place *p)
{
	struct place from = {0};
	struct moved parts = {0};
	struct flow_value value;
	struct flow f;
	int links = p->n;

	if (p->kind != PLACE_MEMORY || p->is_far || !start || hook <= start)
		return;
	if (flow_has_store(m, start, hook, p->reg, p->links[0]))
		return;
	flow_run(&f, m, hook);
	/* With more links it is the address that is stored there. */
	if (links > 1)
		size = 8;
	if (!flow_stored(&f, p->reg, p->links[0], 1, &value))
		return; /* it is written nowhere: it was the caller's */
	if (!find_stores(&f, p, size, &parts) || !moved_place(&parts, &from)) {
		*p = (struct place){0};
		return;
	}
	for (int i = 1; i < links; i++) {
		int32_t link = p->links[i];

		if (!place_follow(&from)) {
			*p = (struct place){0};
			return;
		}
		from.links[from.n - 1] += link;
	}
	from.add += links == 1 ? p->add : 0;
	*p = from;
}
