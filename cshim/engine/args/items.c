/* SPDX-License-Identifier: MIT
 *
 * From a type and a place to the steps that copy the value.
 */
#include "args/items.h"

#include <string.h>

/* The most steps of one value: its bytes, and a text for each field. */
enum { STEPS_OF_ITEM = PLACE_LINKS_MAX * (TYPE_FIELDS_MAX + 1) };

static void step(struct draft *d, int op, int reg, uint32_t size,
		 int32_t offset)
{
	d->steps[d->n_steps++] = (struct cst_copy){(uint8_t)op, (uint8_t)reg,
						   (uint16_t)size, offset};
}

/* Steps that set A near to the value in memory, and *rest to how near. */
static void point(struct draft *d, const struct place *p, int32_t *rest)
{
	if (p->n == 1) {
		step(d, CST_COPY_POINT, p->reg, 0, p->links[0]);
		*rest = 0;
		return;
	}
	step(d, CST_COPY_POINT_AT, p->reg, 0, p->links[0]);
	for (int i = 1; i + 1 < p->n; i++)
		step(d, CST_COPY_FOLLOW, 0, 0, p->links[i]);
	*rest = p->links[p->n - 1];
}

/* The place of a field, or of one half of something. */
static struct place part_of(const struct place *p, uint32_t offset)
{
	struct place part = *p;
	uint32_t at = 0;

	if (p->kind == PLACE_MEMORY) {
		part.links[p->n - 1] += (int32_t)offset;
		return part;
	}
	if (p->kind == PLACE_REGISTER && !offset)
		return part;
	part = (struct place){0};
	for (int i = 0; p->kind == PLACE_PIECES && i < p->n; i++) {
		const struct piece *piece = &p->pieces[i];

		if (at == offset) {
			part.kind = piece->is_register ? PLACE_REGISTER
						       : PLACE_MEMORY;
			part.reg = piece->reg;
			part.n = !piece->is_register;
			part.links[0] = piece->offset;
		}
		at += piece->size;
	}
	return part;
}

/* Steps for the text that the pointer at this place leads to.  0: none can. */
static int add_text(struct draft *d, const struct place *p)
{
	struct place at = *p;
	int32_t rest;

	if (!place_follow(&at))
		return 0;
	/* All of its links are followed: the text begins at A. */
	if (at.links[at.n - 1] == 0 || at.n == 1) {
		point(d, &at, &rest);
		step(d, CST_COPY_TEXT, 0, d->text_bytes, 0);
		return 1;
	}
	return 0;
}

static int add_pieces(struct draft *d, const struct place *p,
		      struct args_item *item, uint32_t size)
{
	uint32_t whole = 0;

	for (int i = 0; i < p->n; i++) {
		const struct piece *piece = &p->pieces[i];

		step(d, piece->is_register ? CST_COPY_REGISTER : CST_COPY_FRAME,
		     piece->reg, piece->size, piece->offset);
		whole += piece->size;
	}
	item->kind = ITEM_BYTES;
	item->size = (uint16_t)whole;
	return whole >= size;
}

/* Steps for `size` bytes as they are. */
static int add_bytes(struct draft *d, const struct place *p,
		     struct args_item *item, uint32_t size)
{
	int32_t rest;

	if (p->size && p->size < size)
		size = p->size;
	item->size = (uint16_t)size;
	item->add = p->add;
	item->widening = p->widening;
	item->is_changed = p->add || p->widening;
	switch (p->kind) {
	case PLACE_CONSTANT:
		item->kind = p->is_address ? ITEM_ADDRESS : ITEM_CONSTANT;
		if (p->is_address)
			item->add -= (int64_t)d->hook;
		item->size = (uint16_t)(size < 8 ? size : 8);
		return size <= 8;
	case PLACE_REGISTER:
		item->kind = ITEM_BYTES;
		step(d, CST_COPY_REGISTER, p->reg, size, 0);
		return size <= 8;
	case PLACE_MEMORY:
		if (p->n == 1 && !p->is_far) {
			item->kind = ITEM_BYTES;
			step(d, CST_COPY_FRAME, p->reg, size, p->links[0]);
			return 1;
		}
		item->kind = ITEM_CHECKED;
		point(d, p, &rest);
		step(d, CST_COPY_BYTES, 0, size, rest);
		return 1;
	case PLACE_PIECES:
		return add_pieces(d, p, item, size);
	default:
		return 0;
	}
}

static int add_struct(struct draft *d, const struct place *p,
		      struct args_item *item, const struct type *type)
{
	if ((p->add && p->kind != PLACE_CONSTANT) || p->size || p->is_address ||
	    !add_bytes(d, p, item, type->size))
		return 0;
	for (uint32_t i = 0; i < type->n; i++) {
		const struct field *f = &d->types->fields[type->first + i];
		struct place part = part_of(p, f->offset);

		if (d->types->all[f->type].kind == TYPE_TEXT &&
		    add_text(d, &part))
			item->texts |= (uint8_t)(1 << i);
	}
	return 1;
}

/* A text whose address and length are at these offsets. */
static int add_sized(struct draft *d, const struct place *p,
		     struct args_item *item, int32_t text, int length)
{
	int32_t rest;

	if (p->kind != PLACE_MEMORY || p->add)
		return 0;
	point(d, p, &rest);
	item->kind = ITEM_TEXT;
	step(d, CST_COPY_SIZED_TEXT, length, d->text_bytes, rest + text);
	return 1;
}

static int add_vector(struct draft *d, const struct place *p,
		      struct args_item *item, const struct type *type)
{
	const struct type *of = &d->types->all[type->target];
	int is_shown = type_is_scalar(of) && of->kind != TYPE_TEXT;
	int32_t rest;

	if (p->kind != PLACE_MEMORY || p->add || !of->size)
		return 0;
	point(d, p, &rest);
	item->kind = ITEM_HEAD;
	item->size = is_shown ? (uint16_t)of->size : 0;
	step(d, CST_COPY_HEAD, 0, item->size, rest);
	return 1;
}

static int add_value(struct draft *d, const struct place *p,
		     struct args_item *item)
{
	const struct type *type = &d->types->all[item->type];

	switch (type->kind) {
	case TYPE_OTHER:
	case TYPE_VOID:
		return 0;
	case TYPE_TEXT:
		item->kind = ITEM_TEXT;
		return add_text(d, p);
	case TYPE_STRUCT:
		return add_struct(d, p, item, type);
	case TYPE_STRING:
		return add_sized(d, p, item, 0, 1);
	case TYPE_VIEW:
		return add_sized(d, p, item, 8, -1);
	case TYPE_VIEW_BY_TEXT:
		return add_sized(d, p, item, 0, 1);
	case TYPE_VECTOR:
		return add_vector(d, p, item, type);
	case TYPE_OWNER:
		return p->kind == PLACE_MEMORY && add_bytes(d, p, item, 8);
	default:
		return add_bytes(d, p, item, type->size);
	}
}

void items_add_computed(struct draft *d, struct computed *computed,
			uint32_t type)
{
	struct args_item item = {.kind = ITEM_COMPUTED, .type = type}, input;

	for (uint32_t i = 0; i < computed->n_nodes; i++) {
		struct compute_node *node = &computed->nodes[i];

		if (node->op != COMPUTE_INPUT)
			continue;
		add_bytes(d, &computed->inputs[node->number], &input,
			  node->size);
		node->how = input.kind == ITEM_CHECKED;
	}
	item.n_steps = (uint16_t)d->n_steps;
	d->items[d->n_items++] = item;
}

void items_add(struct draft *d, const struct place *place, uint32_t type)
{
	uint32_t n_steps = d->n_steps;
	struct args_item item = {.type = type};
	struct place at = *place;
	int is_there = at.kind != PLACE_GONE;

	if (d->n_items == ITEMS_MAX)
		return;
	if (d->types->all[type].kind == TYPE_REFERENCE) {
		item.type = d->types->all[type].target;
		is_there = place_follow(&at);
	}
	if (!is_there || n_steps + STEPS_OF_ITEM >= ITEMS_STEPS_MAX ||
	    !add_value(d, &at, &item)) {
		d->n_steps = n_steps;
		item = (struct args_item){.type = item.type};
	}
	item.first_step = (uint16_t)n_steps;
	item.n_steps = (uint16_t)(d->n_steps - n_steps);
	d->items[d->n_items++] = item;
}
