/* SPDX-License-Identifier: MIT
 *
 * Runs the programs of CIEs and FDEs.
 */
#include "plan/frame_cursor.h"
#include "plan/frame_bytes.h"

#include <dwarf.h>
#include <string.h>

struct run {
	struct frame_cursor *of;
	const struct frame_cie *cie;
	struct cursor c;
};

static void set_rule(struct run *r, uint64_t reg, enum rule_kind kind,
		     int64_t value)
{
	if (reg < FRAME_REGISTERS)
		r->of->rules.registers[reg] =
			(struct rule){.kind = (uint8_t)kind, .value = value};
}

static int64_t factored(struct run *r, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)r->cie->data_factor);
}

static struct rule read_expression(struct run *r, enum rule_kind kind)
{
	struct rule rule = {.kind = (uint8_t)kind, .expression = r->c.p};
	uint64_t size = cursor_varint(&r->c);

	if (size > (uint64_t)(r->c.end - r->c.p)) {
		r->c.failed = 1;
		return rule;
	}
	r->c.p += size;
	rule.size = (uint32_t)(r->c.p - rule.expression);
	return rule;
}

static void set_expression(struct run *r, enum rule_kind kind)
{
	uint64_t reg = cursor_varint(&r->c);
	struct rule rule = read_expression(r, kind);

	if (reg < FRAME_REGISTERS)
		r->of->rules.registers[reg] = rule;
}

static void set_cfa(struct run *r, uint64_t reg, int64_t add)
{
	if (reg >= FRAME_REGISTERS)
		r->c.failed = 1;
	r->of->rules.cfa = (struct rule){
		.kind = RULE_REGISTER, .value = (int64_t)reg, .add = add};
}

static void remember(struct run *r)
{
	struct frame_cursor *c = r->of;

	if (c->n_remembered == FRAME_REMEMBERED)
		r->c.failed = 1;
	else
		c->remembered[c->n_remembered++] = c->rules;
}

static void restore_all(struct run *r)
{
	struct frame_cursor *c = r->of;

	if (c->n_remembered)
		c->rules = c->remembered[--c->n_remembered];
	else
		r->c.failed = 1;
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg < FRAME_REGISTERS)
		r->of->rules.registers[reg] = r->of->first.registers[reg];
}

static void run_cfa(struct run *r, uint8_t op)
{
	struct rule *cfa = &r->of->rules.cfa;
	uint64_t reg = (uint64_t)cfa->value;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_varint(&r->c);
		set_cfa(r, reg, (int64_t)cursor_varint(&r->c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_varint(&r->c);
		set_cfa(r, reg, factored(r, frame_signed(&r->c)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa(r, cursor_varint(&r->c), cfa->add);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa(r, reg, (int64_t)cursor_varint(&r->c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(r, reg, factored(r, frame_signed(&r->c)));
		break;
	default:
		*cfa = read_expression(r, RULE_AT);
	}
}

static void run_register(struct run *r, uint8_t op)
{
	uint64_t reg = cursor_varint(&r->c);
	struct cursor *c = &r->c;

	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(r, reg, RULE_OFFSET,
			 factored(r, (int64_t)cursor_varint(c)));
		break;
	case DW_CFA_offset_extended_sf:
		set_rule(r, reg, RULE_OFFSET, factored(r, frame_signed(c)));
		break;
	case DW_CFA_val_offset:
		set_rule(r, reg, RULE_VALUE,
			 factored(r, (int64_t)cursor_varint(c)));
		break;
	case DW_CFA_val_offset_sf:
		set_rule(r, reg, RULE_VALUE, factored(r, frame_signed(c)));
		break;
	case DW_CFA_restore_extended:
		restore(r, reg);
		break;
	case DW_CFA_undefined:
		set_rule(r, reg, RULE_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set_rule(r, reg, RULE_NONE, 0);
		break;
	default: /* DW_CFA_register */
		set_rule(r, reg, RULE_REGISTER, (int64_t)cursor_varint(c));
	}
}

static void run_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		restore_all(r);
		break;
	case DW_CFA_GNU_args_size:
		cursor_varint(&r->c);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		run_cfa(r, op);
		break;
	case DW_CFA_expression:
		set_expression(r, RULE_AT);
		break;
	case DW_CFA_val_expression:
		set_expression(r, RULE_IS);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
		run_register(r, op);
		break;
	default:
		r->c.failed = 1;
	}
}

/* Returns by how much the operation moves the address; 0: it is another. */
static uint64_t advance_of(struct run *r, uint8_t op)
{
	uint64_t by = 0;

	if ((op & 0xc0) == DW_CFA_advance_loc)
		by = op & 0x3f;
	else if (op == DW_CFA_advance_loc1)
		by = frame_number(&r->c, 1);
	else if (op == DW_CFA_advance_loc2)
		by = frame_number(&r->c, 2);
	else if (op == DW_CFA_advance_loc4)
		by = frame_number(&r->c, 4);
	return by * r->cie->code_factor;
}

static int is_advance(uint8_t op)
{
	return (op & 0xc0) == DW_CFA_advance_loc ||
	       (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4);
}

/* Runs until the rules no longer hold at addr. */
static void run(struct run *r, uint64_t addr)
{
	while (r->c.p < r->c.end && !r->c.failed) {
		const uint8_t *before = r->c.p;
		uint8_t op = cursor_byte(&r->c);

		if (is_advance(op)) {
			uint64_t to = r->of->addr + advance_of(r, op);

			if (to > addr) {
				r->c.p = before;
				return;
			}
			r->of->addr = to;
		} else if ((op & 0xc0) == DW_CFA_offset) {
			set_rule(r, op & 0x3f, RULE_OFFSET,
				 factored(r, (int64_t)cursor_varint(&r->c)));
		} else if ((op & 0xc0) == DW_CFA_restore) {
			restore(r, op & 0x3f);
		} else {
			run_extended(r, op);
		}
	}
}

void frame_cursor_init(struct frame_cursor *c, const struct frames *f,
		       const struct frame *frame)
{
	const struct frame_cie *cie = &f->cies[frame->cie];
	struct run r = {
		.of = c, .cie = cie, .c = {cie->program, cie->program_end, 0}};

	c->frames = f;
	c->frame = frame;
	c->at = frame->program;
	c->addr = frame->start;
	c->n_remembered = 0;
	memset(&c->rules, 0, sizeof(c->rules));
	run(&r, c->addr);
	c->first = c->rules;
	c->failed = r.c.failed || !cie->is_usual;
}

const struct frame_rules *frame_cursor_to(struct frame_cursor *c, uint64_t addr)
{
	struct run r = {.of = c,
			.cie = &c->frames->cies[c->frame->cie],
			.c = {c->at, c->frame->program_end, 0}};

	if (!c->failed)
		run(&r, addr);
	c->at = r.c.p;
	c->failed |= r.c.failed;
	return c->failed ? NULL : &c->rules;
}

static int is_same(const struct rule *a, const struct rule *b)
{
	return a->kind == b->kind && a->value == b->value && a->add == b->add &&
	       a->expression == b->expression;
}

int frame_rules_are_same(const struct frame_rules *a,
			 const struct frame_rules *b)
{
	for (int i = 0; i < FRAME_REGISTERS; i++)
		if (!is_same(&a->registers[i], &b->registers[i]))
			return 0;
	return is_same(&a->cfa, &b->cfa);
}
