/* SPDX-License-Identifier: MIT
 *
 * Makes the plans: what the parameters of a function are that is entered at a
 * hook, and where each of them is then.
 */
#include "args/args.h"
#include "args/abi.h"
#include "args/codes.h"
#include "args/instance.h"
#include "args/items.h"
#include "args/moved.h"
#include "args/plan.h"
#include "args/result.h"
#include "base/array.h"
#include "base/bytes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHILDREN = 1 << 16, MAX_ORIGINS = 16 };

/* ---- its parameters -------------------------------------------------------
 */

static int origin_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	       dwarf_formref_die(&attr, out);
}

/* The parameter of an instance that this one of its origin is.  The next is
 * looked for from there. */
static int find_parameter(Dwarf_Die *parent, const Dwarf_Die *abstract,
			  Dwarf_Die *out)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child, origin;

	if (dwarf_child(parent, &child))
		return 0;
	do {
		if (dwarf_tag(&child) == DW_TAG_GNU_formal_parameter_pack &&
		    dwarf_tag(parent) != DW_TAG_GNU_formal_parameter_pack &&
		    find_parameter(&child, abstract, out))
			return 1;
		if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
		    origin_of(&child, &origin) &&
		    origin.addr == abstract->addr) {
			*out = child;
			return 1;
		}
	} while (--budget && !dwarf_siblingof(&child, &child));
	return 0;
}

/* The compiler adds some that have no place in the source; `this` is shown. */
static int is_shown(Dwarf_Die *die, const char *name)
{
	bool is_artificial = false;
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_artificial, &attr))
		dwarf_formflag(&attr, &is_artificial);
	return !is_artificial || !strcmp(name, "this");
}

static void put_name(struct bytes *names, const char *name, int is_first)
{
	if (!is_first)
		bytes_put_byte(names, ',');
	for (; *name; name++)
		bytes_put_byte(names, *name == ',' ? ';' : (uint8_t)*name);
}

static void put_names(struct bytes *names, const struct types *t,
		      const char *name, uint32_t number, int is_first)
{
	const struct type *type = &t->all[number];

	put_name(names, name, is_first);
	if (type->kind != TYPE_STRUCT)
		return;
	for (uint32_t i = 0; i < type->n; i++)
		put_name(names, t->fields[type->first + i].name, 0);
}

/* The rest of a long double is padding. */
static uint32_t value_size(const struct type *t)
{
	return t->kind == TYPE_FLOAT && t->size == 16 ? 10 : t->size;
}

/* Is the place the same all through the function?  Then the function has yet
 * to put the value there, unless its caller has. */
static int is_lasting(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_location, &attr) &&
	       dwarf_whatform(&attr) == DW_FORM_exprloc;
}

/* Is it all through the function in one of the registers that arguments come
 * in?  Then it has come in that one, which need not be the one of the ABI:
 * compilers leave out parameters of functions that only one file calls. */
static int stays_where_it_came(Dwarf_Die *die)
{
	enum { RCX = 2, RSI = 4, RDI = 5, R9 = 9, XMM0 = 17, XMM7 = 24 };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	int reg;

	if (!dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) || n != 1)
		return 0;
	reg = ops->atom - DW_OP_reg0;
	return (reg >= 1 && reg <= RCX) || reg == RSI || reg == RDI ||
	       reg == R9 - 1 || reg == R9 || (reg >= XMM0 && reg <= XMM7);
}

/* Is it, all through the function, where the caller has put it on the stack?
 * A place by the stack pointer is behind the prologue. */
static int is_of_caller(Dwarf_Die *die, const struct place *place)
{
	enum { SP = 7 };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	return place->kind == PLACE_MEMORY && place->reg == CST_REG_SP &&
	       place->links[0] > 0 && dwarf_attr(die, DW_AT_location, &attr) &&
	       !dwarf_getlocation(&attr, &ops, &n) && n &&
	       ops->atom != DW_OP_breg0 + SP;
}

/* Is it a copy of a function that gcc has left the result out of, perhaps? */
static int may_lack_result(const struct instance *at)
{
	struct symbol symbol;

	return modules_symbol(at->modules, at->hook, &symbol) &&
	       strstr(symbol.symbol, ".isra.");
}

/* A register of the function is where the hook has put it: below the return
 * address, which is what arguments on the stack are above. */
static void find_saved(const struct instance *at, uint8_t *reg, int32_t *offset)
{
	if (*offset >= 0)
		return;
	*offset += at->is_deep ? CST_PATCHED_ABOVE : at->below;
	if (at->is_deep)
		*reg = CST_REG_SAVED;
}

static void find_all_saved(const struct instance *at, struct place *p)
{
	if (p->kind == PLACE_MEMORY && p->reg == CST_REG_SP)
		find_saved(at, &p->reg, &p->links[0]);
	for (int i = 0; p->kind == PLACE_PIECES && i < p->n; i++)
		if (!p->pieces[i].is_register)
			find_saved(at, &p->pieces[i].reg, &p->pieces[i].offset);
}

/* Is it where by_rule says, at the first place that the compiler tells?  clang
 * tells none for the function's first instructions. */
static int has_come(const struct instance *at, Dwarf_Die *here,
		    const struct place *by_rule)
{
	struct frame first = at->frame;
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	struct place place;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(here, DW_AT_location, &attr) ||
	    dwarf_getlocations(&attr, 0, &base, &start, &end, &ops, &n) <= 0 ||
	    start <= first.pc)
		return 0;
	first.pc = start;
	modules_code(at->modules, start + first.bias, &first.code);
	place_find(&first, here, &place);
	if (place.kind == PLACE_MEMORY && place.links[0] > 0) {
		if (first.code.cfa_base != CFA_SP)
			return 0;
		/* The stack pointer has moved. */
		place.links[0] +=
			at->frame.code.cfa_offset - first.code.cfa_offset;
	}
	return place_is_same(&place, by_rule);
}

/* The place of a parameter at a function's first instruction; by_rule is that
 * of the System V ABI. */
static void find_at_entry(const struct instance *at, Dwarf_Die *here,
			  const struct place *by_rule, struct place *out)
{
	place_find(&at->frame, here, out);
	if ((is_lasting(here) && !stays_where_it_came(here) &&
	     !is_of_caller(here, out)) ||
	    (out->kind == PLACE_GONE && has_come(at, here, by_rule)))
		*out = *by_rule;
	find_all_saved(at, out);
}

/* Members of *this, if they are wanted; place is that of `this`. */
static void add_members(struct args *a, const struct instance *at,
			Dwarf_Die *die, const struct place *place,
			struct draft *d, struct bytes *names)
{
	struct place there = *place;
	uint32_t type =
		a->wants_members ? types_members(&a->types, die, at->file) : 0;

	if (!type || d->n_items == ITEMS_MAX)
		return;
	if (!place_follow(&there))
		there = (struct place){0};
	items_add(d, &there, type);
	put_names(names, &a->types, "members", type, 0);
}

static void add_parameter(struct args *a, struct instance *at, Dwarf_Die *die,
			  struct draft *d, struct bytes *names)
{
	const char *name = dwarf_diename(die);
	const struct moved_function function = {at->modules, at->start,
						at->hook, &at->frame.code,
						at->is_inlined};
	struct place place = {0}, by_rule;
	Dwarf_Die here = *die;
	uint32_t type = types_of(&a->types, die, at->file);

	name = name ? name : "";
	/* What is not shown has its register, too. */
	abi_next(&at->abi, &a->types, type, &by_rule);
	if (!is_shown(die, name) || d->n_items == ITEMS_MAX || !type)
		return;
	if (at->die.addr != NULL && !find_parameter(&at->die, die, &here)) {
		;
	} else if (at->frame.is_patched) {
		find_at_entry(at, &here, &by_rule, &place);
	} else if (at->is_framed) {
		if (is_lasting(&here))
			place_find(&at->frame, &here, &place);
	} else {
		place_find(&at->frame, &here, &place);
		if (dwarf_hasattr(&here, DW_AT_location))
			moved_from(&function, value_size(&a->types.all[type]),
				   &place);
	}
	items_add(d, &place, type);
	put_names(names, &a->types, name, d->items[d->n_items - 1].type,
		  d->n_items == 1);
	if (!strcmp(name, "this"))
		add_members(a, at, die, &place, d, names);
}

/* Adds the parameters of a function, or of a pack, in which gcc names none. */
static void add_children(struct args *a, struct instance *at, Dwarf_Die *parent,
			 struct draft *d, struct bytes *names)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child;

	if (dwarf_child(parent, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			add_parameter(a, at, &child, d, names);
		else if (dwarf_tag(&child) ==
				 DW_TAG_GNU_formal_parameter_pack &&
			 dwarf_tag(parent) != DW_TAG_GNU_formal_parameter_pack)
			add_children(a, at, &child, d, names);
	} while (--budget && !dwarf_siblingof(&child, &child));
}

static void add_parameters(struct args *a, struct instance *at, struct draft *d,
			   struct bytes *names)
{
	Dwarf_Die whole = at->die;

	abi_begin(&at->abi, &a->types, types_of(&a->types, &at->die, at->file));
	for (int i = 0; i < MAX_ORIGINS && origin_of(&whole, &whole); i++)
		;
	/* There is no other: its parameters are these. */
	if (whole.addr == at->die.addr)
		at->die.addr = NULL;
	add_children(a, at, &whole, d, names);
}

/* ---- plans ----------------------------------------------------------------
 */

/* The enum cst_value of an integer; 0: it is none. */
static uint8_t number_of_type(const struct type *type)
{
	if (!type->size || type->size > 8 || type->size & (type->size - 1))
		return 0;
	switch (type->kind) {
	case TYPE_INT:
		return CST_VALUE_INT;
	case TYPE_UINT:
		return CST_VALUE_UINT;
	case TYPE_BOOL:
		return type->size == 1 ? CST_VALUE_BOOL : 0;
	case TYPE_CHAR:
		return type->size == 1 ? CST_VALUE_CHAR : 0;
	case TYPE_POINTER:
		return type->size == 8 ? CST_VALUE_POINTER : 0;
	default:
		return 0;
	}
}

/* Most values are numbers that lie there as they are shown. */
static uint8_t number_of(const struct args_item *item, const struct type *type)
{
	return item->kind == ITEM_BYTES && item->size == type->size &&
			       !item->is_changed
		       ? number_of_type(type)
		       : 0;
}

static uint32_t code_of(const struct args_item *item, const struct type *type)
{
	if (item->kind == ITEM_TEXT)
		return CODE_TEXT;
	if (item->kind == ITEM_GONE)
		return type->kind == TYPE_OTHER || type->kind == TYPE_STRUCT
			       ? 0
			       : CODE_GONE;
	return code_of_integer(item->number, item->size);
}

/* The codes of all values, if each has one. */
static uint16_t codes_of(const struct draft *d)
{
	uint32_t codes = 0;

	if (d->n_items > CODES_MAX)
		return 0;
	for (uint32_t i = d->n_items; i > 0; i--) {
		const struct args_item *item = &d->items[i - 1];
		const struct type *type = &d->types->all[item->type];
		uint32_t code = code_of(item, type);

		if (!code)
			return 0;
		codes = codes << CODE_BITS | code;
	}
	return (uint16_t)codes;
}

/* The codes of a result that is computed. */
static uint16_t computed_codes(const struct draft *d)
{
	const struct type *type = &d->types->all[d->items[0].type];
	uint32_t code = code_of_integer(number_of_type(type), type->size);

	if (d->n_items != 1 || d->items[0].kind != ITEM_COMPUTED || !code)
		return 0;
	return (uint16_t)(code << CODE_BITS | CODE_COMPUTED);
}

/* A plan of its own, one piece of memory with what it has. */
static struct args_plan *plan_new(const struct args *a, struct draft *d,
				  const struct computed *c,
				  const struct bytes *names)
{
	size_t items = d->n_items * sizeof(*d->items);
	size_t steps = d->n_steps * sizeof(*d->steps);
	size_t nodes = c->n_nodes * sizeof(*c->nodes);
	struct args_plan *p =
		malloc(sizeof(*p) + items + nodes + steps + names->len);
	int has_pointers = 0;
	char *at;

	if (!p)
		return NULL;
	at = (char *)(p + 1);
	for (uint32_t i = 0; i < d->n_items; i++) {
		const struct type *type = &a->types.all[d->items[i].type];

		d->items[i].number = number_of(&d->items[i], type);
		has_pointers |=
			(type->kind < TYPE_INT || type->kind > TYPE_ENUM) &&
			type->kind != TYPE_TEXT;
	}
	*p = (struct args_plan){
		.codes = codes_of(d),
		.has_pointers = has_pointers,
		.items = memcpy(at, d->items, items),
		.nodes = memcpy(at + items, c->nodes, nodes),
		.steps = memcpy(at + items + nodes, d->steps, steps),
		.names = memcpy(at + items + nodes + steps, names->data,
				names->len),
		.n_items = d->n_items,
		.n_nodes = c->n_nodes,
		.n_steps = d->n_steps,
		.is_static = d->n_steps == 1,
		.of = a,
	};
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].op == COMPUTE_INPUT)
			p->inputs[p->n_inputs++] = (uint8_t)i;
	return p;
}

/* The result that an exit's hook has: not of an inlined function, which has no
 * end of its own, nor for a hook that the function jumps to. */
static void add_result(struct args *a, struct instance *at, struct draft *d,
		       struct computed *computed, struct bytes *names)
{
	uint32_t type = types_of(&a->types, &at->die, at->file);
	struct place place;

	if (at->frame.is_patched) {
		if (!abi_result(&a->types, type, &place) || may_lack_result(at))
			return;
		find_all_saved(at, &place);
	} else if (at->is_inlined || !result_find(&a->types, type, at->modules,
						  at->hook, &place, computed)) {
		return;
	}
	if (place.kind == PLACE_COMPUTED)
		items_add_computed(d, computed, type);
	else
		items_add(d, &place, type);
	if (d->items[0].kind == ITEM_GONE)
		d->n_items = 0;
	else
		put_names(names, &a->types, "", d->items[0].type, 1);
}

static int is_plain_step(const struct cst_copy *s)
{
	return (s->op == CST_COPY_REGISTER || s->op == CST_COPY_FRAME) &&
	       s->reg < CST_N_REGS &&
	       (s->size == 1 || s->size == 2 || s->size == 4 || s->size == 8);
}

/* How many steps a program has that CST_COPY_PLAIN may begin; else 0. */
static uint32_t count_plain(const struct draft *d)
{
	uint32_t n_bytes = 0;

	for (uint32_t i = 0; i < d->n_steps; i++) {
		if (!is_plain_step(&d->steps[i]))
			return 0;
		n_bytes += d->steps[i].size;
	}
	return n_bytes <= CST_PLAIN_BYTES ? d->n_steps : 0;
}

/* place: of the hook, as in cst_hook_place(). */
static struct args_plan *make_plan(struct args *a, struct instance *at,
				   uint64_t place, int kind)
{
	struct args_plan *plan = NULL;
	struct bytes names = {0};
	struct computed computed;
	struct draft d;
	uint32_t n_plain;

	d.types = &a->types;
	d.text_bytes = a->text_bytes;
	d.n_steps = d.n_items = computed.n_nodes = 0;
	d.hook = place;
	if (kind == CST_ENTER)
		add_parameters(a, at, &d, &names);
	else if (kind == CST_EXIT)
		add_result(a, at, &d, &computed, &names);
	n_plain = count_plain(&d);
	d.steps[d.n_steps++] = (struct cst_copy){.op = CST_COPY_END};
	bytes_put_byte(&names, 0);
	if (d.n_items && !names.failed)
		plan = plan_new(a, &d, &computed, &names);
	if (plan)
		plan->n_plain = n_plain;
	if (plan && n_plain && plan->n_inputs)
		plan->codes = computed_codes(&d);
	bytes_release(&names);
	if (plan && array_room(&a->plans, &a->cap, a->n + 1ull) < 0) {
		free(plan);
		return NULL;
	}
	if (plan)
		a->plans[a->n++] = plan;
	return plan;
}

/* Was the place's plan made ahead, of something else than the callee? */
static int is_anothers(const struct args *a, struct modules *m, uint64_t place,
		       uint64_t hook, uint64_t callee)
{
	uint32_t *ahead = hashmap_get(&a->ahead, place);
	struct instance at;

	return ahead && !(instance_of_call(m, hook - 1, callee, &at) &&
			  *ahead == (uint32_t)dwarf_dieoffset(&at.die));
}

struct args_plan *args_plan(struct args *a, struct modules *m, uint64_t hook,
			    uint64_t callee, int kind)
{
	uint64_t place = modules_place(m, cst_hook_place(hook, callee));
	uint32_t *known = place ? hashmap_get(&a->by_place, place) : NULL;
	struct args_plan *plan = NULL;
	struct instance at;

	hook = cst_place_hook(hook, callee);
	/* Another function has yet to make the result. */
	if (!place || cst_patched_jumps(hook) || cst_patched_ends_any(hook))
		return NULL;
	if (known)
		return *known && !is_anothers(a, m, place, hook, callee)
			       ? a->plans[*known - 1]
			       : NULL;
	if (instance_at(m, hook, callee, &at))
		plan = make_plan(a, &at, cst_hook_place(hook, callee), kind);
	hashmap_put(&a->by_place, place, plan ? a->n : 0);
	return plan;
}

int args_plan_ahead(struct args *a, struct modules *m, uint64_t hook, int kind,
		    struct args_plan **out)
{
	uint64_t place = modules_place(m, hook);
	uint32_t *known = place ? hashmap_get(&a->by_place, place) : NULL;
	struct instance at;

	*out = known && *known ? a->plans[*known - 1] : NULL;
	if (known)
		return 1;
	if (!place || !instance_innermost(m, hook - 1, &at) ||
	    hashmap_put(&a->ahead, place, (uint32_t)dwarf_dieoffset(&at.die)))
		return 0;
	*out = make_plan(a, &at, hook, kind);
	hashmap_put(&a->by_place, place, *out ? a->n : 0);
	return 1;
}

struct args *args_new(void)
{
	struct args *a = calloc(1, sizeof(*a));

	if (a && types_init(&a->types) < 0) {
		args_free(a);
		return NULL;
	}
	if (a)
		args_want(a, 0, 0);
	return a;
}

void args_want(struct args *a, int members, uint32_t text_bytes)
{
	a->wants_members = members;
	a->text_bytes = text_bytes ? text_bytes : CST_COPY_TEXT_MAX;
}

void args_free(struct args *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		free(a->plans[i]);
	free(a->plans);
	hashmap_release(&a->by_place);
	hashmap_release(&a->ahead);
	types_release(&a->types);
	free(a);
}
