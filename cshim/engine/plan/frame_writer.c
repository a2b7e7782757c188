/* SPDX-License-Identifier: MIT
 *
 * Writes one CIE, an FDE for each piece of code, and the search table.
 */
#include "plan/frame_writer.h"
#include "base/array.h"
#include "plan/frame_bytes.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	DATA_FACTOR = -8,
	ALIGNMENT = 8,
	TABLE_END = 4, /* bytes */
	HEADER_HEAD = 12,
	HEADER_ENTRY = 8,
	FDE_CODE = 8, /* where an FDE has its begin and its size */
	FDE_SIZE = 12,
};

const struct frame_rules frame_rules_bare = {
	.cfa = {.kind = RULE_REGISTER, .value = FRAME_SP, .add = 8},
	.registers[FRAME_RETURN] = {.kind = RULE_OFFSET, .value = -8},
};

/* ---- rules --------------------------------------------------------------- */

static int is_same(const struct rule *a, const struct rule *b)
{
	return a->kind == b->kind && a->value == b->value && a->add == b->add &&
	       a->expression == b->expression;
}

static void put_cfa(struct frame_writer *w, const struct rule *r)
{
	const struct rule *old = &w->rules.cfa;
	struct bytes *b = &w->table;

	if (r->kind == RULE_AT) {
		bytes_put_byte(b, DW_CFA_def_cfa_expression);
		bytes_put(b, r->expression, r->size);
	} else if (r->kind != RULE_REGISTER || r->add < 0) {
		w->failed = 1;
	} else if (old->kind == r->kind && old->value == r->value) {
		bytes_put_byte(b, DW_CFA_def_cfa_offset);
		frame_put_unsigned(b, (uint64_t)r->add);
	} else {
		bytes_put_byte(b, DW_CFA_def_cfa);
		frame_put_unsigned(b, (uint64_t)r->value);
		frame_put_unsigned(b, (uint64_t)r->add);
	}
}

static void put_offset(struct frame_writer *w, uint8_t op, unsigned reg,
		       int64_t value)
{
	struct bytes *b = &w->table;

	if (value % DATA_FACTOR) {
		w->failed = 1;
		return;
	}
	value /= DATA_FACTOR;
	if (op == DW_CFA_offset_extended_sf && value >= 0) {
		bytes_put_byte(b, (uint8_t)(DW_CFA_offset | reg));
		frame_put_unsigned(b, (uint64_t)value);
		return;
	}
	bytes_put_byte(b, op);
	frame_put_unsigned(b, reg);
	frame_put_signed(b, value);
}

static void put_simple(struct bytes *b, uint8_t op, unsigned reg)
{
	bytes_put_byte(b, op);
	frame_put_unsigned(b, reg);
}

static void put_register(struct frame_writer *w, unsigned reg,
			 const struct rule *r)
{
	struct bytes *b = &w->table;

	switch (r->kind) {
	case RULE_NONE:
		put_simple(b, DW_CFA_same_value, reg);
		break;
	case RULE_OFFSET:
		put_offset(w, DW_CFA_offset_extended_sf, reg, r->value);
		break;
	case RULE_VALUE:
		put_offset(w, DW_CFA_val_offset_sf, reg, r->value);
		break;
	case RULE_REGISTER:
		put_simple(b, DW_CFA_register, reg);
		frame_put_unsigned(b, (uint64_t)r->value);
		break;
	case RULE_UNDEFINED:
		put_simple(b, DW_CFA_undefined, reg);
		break;
	default:
		put_simple(b,
			   r->kind == RULE_AT ? DW_CFA_expression
					      : DW_CFA_val_expression,
			   reg);
		bytes_put(b, r->expression, r->size);
	}
}

static void put_advance(struct frame_writer *w, uint32_t code)
{
	uint32_t by = code - w->at;
	uint8_t raw[4];

	w->at = code;
	if (!by)
		return;
	if (by < 0x40) {
		bytes_put_byte(&w->table, (uint8_t)(DW_CFA_advance_loc | by));
		return;
	}
	put_u32(raw, by);
	bytes_put_byte(&w->table, DW_CFA_advance_loc4);
	bytes_put(&w->table, raw, sizeof(raw));
}

void frame_writer_rules(struct frame_writer *w, uint32_t code,
			const struct frame_rules *rules, int64_t pushed)
{
	struct rule cfa = rules->cfa;

	if (cfa.kind == RULE_REGISTER && cfa.value == FRAME_SP)
		cfa.add += pushed;
	if (!is_same(&cfa, &w->rules.cfa)) {
		put_advance(w, code);
		put_cfa(w, &cfa);
		w->rules.cfa = cfa;
	}
	for (unsigned i = 0; i < FRAME_REGISTERS; i++) {
		if (is_same(&rules->registers[i], &w->rules.registers[i]))
			continue;
		put_advance(w, code);
		put_register(w, i, &rules->registers[i]);
		w->rules.registers[i] = rules->registers[i];
	}
}

/* ---- the table ----------------------------------------------------------- */

static void put_number(struct bytes *b, uint32_t number)
{
	uint8_t raw[4];

	put_u32(raw, number);
	bytes_put(b, raw, sizeof(raw));
}

/* Fills up with DW_CFA_nop, and writes how long what begins at `start` is. */
static void end_entry(struct frame_writer *w, size_t start)
{
	while ((w->table.len - start - 4) % ALIGNMENT != 4 && !w->table.failed)
		bytes_put_byte(&w->table, DW_CFA_nop);
	if (!w->table.failed)
		put_u32(w->table.data + start,
			(uint32_t)(w->table.len - start - 4));
}

void frame_writer_init(struct frame_writer *w)
{
	struct bytes *b = &w->table;

	put_number(b, 0); /* its length */
	put_number(b, 0); /* it is a CIE */
	bytes_put_byte(b, 1);
	bytes_put(b, "zR", 3); /* FDEs have an encoding of addresses, below */
	bytes_put_byte(b, 1);  /* the factor of code */
	frame_put_signed(b, DATA_FACTOR);
	bytes_put_byte(b, FRAME_RETURN);
	bytes_put_byte(b, 1);
	bytes_put_byte(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	bytes_put_byte(b, DW_CFA_def_cfa);
	frame_put_unsigned(b, FRAME_SP);
	frame_put_unsigned(b, 8);
	bytes_put_byte(b, DW_CFA_offset | FRAME_RETURN);
	frame_put_unsigned(b, 1);
	end_entry(w, 0);
}

void frame_writer_release(struct frame_writer *w)
{
	bytes_release(&w->table);
	free(w->places);
	*w = (struct frame_writer){0};
}

void frame_writer_begin(struct frame_writer *w, uint32_t code)
{
	static const uint8_t head[FDE_SIZE + 5]; /* and no augmentation */
	uint32_t start = (uint32_t)w->table.len;

	if (array_room(&w->places, &w->cap, w->n + 1ull)) {
		w->table.failed = 1;
		return;
	}
	w->places[w->n++] = (struct frame_place){code, start};
	bytes_put(&w->table, head, sizeof(head));
	if (!w->table.failed)
		put_u32(w->table.data + start + 4, start + 4);
	w->rules = frame_rules_bare;
	w->at = code;
}

void frame_writer_end(struct frame_writer *w, uint32_t code)
{
	uint32_t start;

	if (w->table.failed)
		return;
	start = w->places[w->n - 1].fde;
	put_u32(w->table.data + start + FDE_SIZE,
		code - w->places[w->n - 1].code);
	end_entry(w, start);
}

void frame_writer_drop(struct frame_writer *w)
{
	w->failed = 0;
	if (!w->table.failed)
		w->table.len = w->places[--w->n].fde;
}

uint32_t frame_writer_table_size(const struct frame_writer *w)
{
	return (uint32_t)w->table.len + TABLE_END;
}

uint32_t frame_writer_header_size(const struct frame_writer *w)
{
	return HEADER_HEAD + w->n * HEADER_ENTRY;
}

void frame_writer_finish(struct frame_writer *w, uint32_t code_at,
			 uint32_t table_at, uint32_t header_at,
			 struct bytes *header)
{
	static const uint8_t encodings[] = {
		1,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_udata4,
		DW_EH_PE_datarel | DW_EH_PE_sdata4,
	};

	bytes_put(header, encodings, sizeof(encodings));
	put_number(header, table_at - (header_at + 4));
	put_number(header, w->n);
	for (uint32_t i = 0; i < w->n && !w->table.failed; i++) {
		const struct frame_place *p = &w->places[i];
		uint32_t code = code_at + p->code, fde = table_at + p->fde;

		put_u32(w->table.data + p->fde + FDE_CODE,
			code - (fde + FDE_CODE));
		put_number(header, code - header_at);
		put_number(header, fde - header_at);
	}
	put_number(&w->table, 0);
}
