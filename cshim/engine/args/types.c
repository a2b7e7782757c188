/* SPDX-License-Identifier: MIT
 *
 * A type is read once for each DIE.  What the debug information says may be
 * damaged: chains end after some steps, and structs hold no structs.
 */
#include "args/types.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHAIN = 16, MAX_CHILDREN = 4096, MAX_ENUMERATORS = 512 };

/* What is being read. */
struct source {
	struct types *types;
	uint32_t file;
	int depth;
};

static uint32_t type_at(struct source *s, Dwarf_Die *die);

static int next_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       dwarf_formref_die(&attr, out);
}

/* Through names and qualifiers, to what the type is.  Returns 0 for void. */
static int peel(const Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < MAX_CHAIN; i++) {
		switch (dwarf_tag(&at)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
			if (!next_of(&at, out))
				return 0;
			at = *out;
			break;
		default:
			*out = at;
			return 1;
		}
	}
	return 0;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name, uint32_t otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attr) ||
	    dwarf_formudata(&attr, &value) || value > UINT32_MAX)
		return otherwise;
	return (uint32_t)value;
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name ? name : "";
}

static const char *keep_name(struct types *t, const char *name)
{
	const char *kept = arena_intern(t->names, name, strlen(name));

	return kept ? kept : "";
}

/* ---- numbers --------------------------------------------------------------
 */

static void set_base(struct type *out, Dwarf_Die *die)
{
	uint32_t encoding = number_of(die, DW_AT_encoding, 0);
	const char *name = name_of(die);

	switch (encoding) {
	case DW_ATE_boolean:
		out->kind = TYPE_BOOL;
		break;
	case DW_ATE_float:
		out->kind = TYPE_FLOAT;
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_ASCII:
		out->kind = !strcmp(name, "char") || !strcmp(name, "char8_t")
				    ? TYPE_CHAR
			    : encoding == DW_ATE_signed_char ? TYPE_INT
							     : TYPE_UINT;
		break;
	case DW_ATE_signed:
		out->kind = TYPE_INT;
		break;
	case DW_ATE_unsigned:
		out->kind = TYPE_UINT;
		break;
	default:
		return;
	}
	out->is_signed = out->kind == TYPE_INT;
	if (!out->size ||
	    (out->size > 8 && (out->kind != TYPE_FLOAT || out->size != 16)))
		out->kind = TYPE_OTHER;
}

/* The forms that compilers use say nothing of the sign. */
static int add_enumerator(struct types *t, const struct type *of,
			  Dwarf_Die *die)
{
	unsigned above = 64 - 8 * of->size;
	Dwarf_Attribute attr;
	Dwarf_Word value;
	Dwarf_Sword number;

	if (!dwarf_attr(die, DW_AT_const_value, &attr))
		return 1;
	if (of->is_signed ? dwarf_formsdata(&attr, &number)
			  : dwarf_formudata(&attr, &value))
		return 1;
	if (!of->is_signed)
		number = (Dwarf_Sword)(value << above >> above);
	if (array_room(&t->enumerators, &t->cap_enumerators,
		       t->n_enumerators + 1ull) < 0)
		return 0;
	t->enumerators[t->n_enumerators++] = (struct enumerator){
		keep_name(t, name_of(die)), (int64_t)number};
	return 1;
}

static void set_enum(struct types *t, struct type *out, Dwarf_Die *die)
{
	Dwarf_Die child, base;
	int64_t all = 0;

	out->kind = TYPE_ENUM;
	out->is_signed = 1;
	if (!out->size || out->size > 8)
		out->size = 4;
	if (next_of(die, &base) && peel(&base, &base))
		out->is_signed =
			number_of(&base, DW_AT_encoding, 0) == DW_ATE_signed;
	out->first = t->n_enumerators;
	if (dwarf_child(die, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_enumerator &&
		    !add_enumerator(t, out, &child))
			break;
	} while (t->n_enumerators - out->first < MAX_ENUMERATORS &&
		 !dwarf_siblingof(&child, &child));
	out->n = t->n_enumerators - out->first;
	/* Single bits, in the order of their values or not. */
	out->is_flags = out->n > 1;
	for (uint32_t i = out->first; i < t->n_enumerators; i++) {
		int64_t value = t->enumerators[i].value;

		if (value & (value - 1) || value & all)
			out->is_flags = 0;
		all |= value;
	}
	/* 0, 1, 2 may be single bits, too, and are numbers. */
	if (all <= 3)
		out->is_flags = 0;
}

/* ---- pointers -------------------------------------------------------------
 */

static void set_pointer(struct type *out, Dwarf_Die *die)
{
	struct type target = {0};
	Dwarf_Die to;

	out->kind = TYPE_POINTER;
	out->size = 8;
	if (!next_of(die, &to) || !peel(&to, &to) ||
	    dwarf_tag(&to) != DW_TAG_base_type)
		return;
	target.size = number_of(&to, DW_AT_byte_size, 0);
	set_base(&target, &to);
	if (target.kind == TYPE_CHAR && target.size == 1)
		out->kind = TYPE_TEXT;
}

static void set_reference(struct source *s, struct type *out, Dwarf_Die *die)
{
	const struct type *target;
	Dwarf_Die to;

	out->kind = TYPE_POINTER;
	out->size = 8;
	if (!next_of(die, &to))
		return;
	out->target = type_at(s, &to);
	target = &s->types->all[out->target];
	if (target->kind != TYPE_OTHER && target->kind != TYPE_VOID &&
	    target->kind != TYPE_REFERENCE)
		out->kind = TYPE_REFERENCE;
}

/* ---- structs --------------------------------------------------------------
 */

/* Its first member or base class, by which the classes of one library differ
 * from those of another. */
static const char *first_member(Dwarf_Die *die)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return "";
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inheritance ||
		    (tag == DW_TAG_member &&
		     !dwarf_hasattr(&child, DW_AT_external)))
			return name_of(&child);
	} while (--budget && !dwarf_siblingof(&child, &child));
	return "";
}

/* The first type that a template was given. */
static uint32_t element_of(struct source *s, Dwarf_Die *die)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child, type;

	if (dwarf_child(die, &child))
		return 0;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
			return next_of(&child, &type) ? type_at(s, &type) : 0;
	} while (--budget && !dwarf_siblingof(&child, &child));
	return 0;
}

/* A class of the C++ library.  clang may only declare those that the library
 * holds the code of; then they are libstdc++'s, unless their names say that
 * they are not. */
static int set_library(struct source *s, struct type *out, Dwarf_Die *die)
{
	const char *name = name_of(die), *first;
	int is_declared = dwarf_hasattr(die, DW_AT_declaration);

	if (!strchr(name, '<') || strstr(name, "std::__1::"))
		return 0;
	if (text_begins(name, "basic_string<char, ") ||
	    !strcmp(name, "basic_string<char>")) {
		if (!is_declared && (out->size != 32 ||
				     strcmp(first_member(die), "_M_dataplus")))
			return 0;
		out->size = 32;
		out->kind = TYPE_STRING;
		out->by_address = 1;
	} else if (text_begins(name, "basic_string_view<char, ") &&
		   out->size == 16) {
		first = first_member(die);
		out->kind = !strcmp(first, "_M_len") ? TYPE_VIEW
						     : TYPE_VIEW_BY_TEXT;
	} else if (text_begins(name, "vector<") && out->size == 24) {
		out->target = element_of(s, die);
		out->kind = TYPE_VECTOR;
		out->by_address = 1;
	} else if ((text_begins(name, "unique_ptr<") && out->size == 8) ||
		   (text_begins(name, "shared_ptr<") && out->size == 16)) {
		out->kind = TYPE_OWNER;
		out->by_address = 1;
	}
	return out->kind != TYPE_OTHER;
}

static int is_flagged(Dwarf_Die *die, unsigned name)
{
	bool flag = false;
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) &&
	       !dwarf_formflag(&attr, &flag) && flag;
}

/* Does the constructor have one of its own class as its first argument? */
static int is_copying(Dwarf_Die *constructor, const Dwarf_Die *class)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child, type;

	if (dwarf_child(constructor, &child))
		return 0;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
		    !is_flagged(&child, DW_AT_artificial))
			return next_of(&child, &type) &&
			       (dwarf_tag(&type) == DW_TAG_reference_type ||
				dwarf_tag(&type) ==
					DW_TAG_rvalue_reference_type) &&
			       next_of(&type, &type) && peel(&type, &type) &&
			       type.addr == class->addr;
	} while (--budget && !dwarf_siblingof(&child, &child));
	return 0;
}

/* Is it a member by which the class is no plain bytes? */
static int is_own_way(Dwarf_Die *member, Dwarf_Die *class)
{
	const char *name = name_of(member);

	if (dwarf_tag(member) == DW_TAG_member)
		return is_flagged(member, DW_AT_artificial);
	if (dwarf_tag(member) != DW_TAG_subprogram ||
	    dwarf_hasattr(member, DW_AT_defaulted) ||
	    is_flagged(member, DW_AT_artificial))
		return 0;
	return *name == '~' ||
	       (!strcmp(name, name_of(class)) && is_copying(member, class));
}

/* Is it handed over by its address?  gcc does not say so. */
static int is_by_address(const struct type *t, Dwarf_Die *die)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child;

	if (t->size > 16 || number_of(die, DW_AT_calling_convention, 0) ==
				    DW_CC_pass_by_reference)
		return 1;
	if (dwarf_child(die, &child))
		return 0;
	do {
		if (is_own_way(&child, die))
			return 1;
	} while (--budget && !dwarf_siblingof(&child, &child));
	return 0;
}

/* A static one, or the table of virtual functions. */
static int is_no_part(Dwarf_Die *member)
{
	return dwarf_hasattr(member, DW_AT_external) ||
	       is_flagged(member, DW_AT_artificial);
}

/* Makes a field of the member, whose name is not kept yet; 0: it is none that
 * is shown, or lies beyond `size` bytes. */
static int field_of(struct source *s, Dwarf_Die *member, uint32_t size,
		    struct field *out)
{
	uint32_t offset = number_of(member, DW_AT_data_member_location, 0);
	const struct type *type;
	Dwarf_Die to;

	if (dwarf_hasattr(member, DW_AT_bit_size) ||
	    dwarf_hasattr(member, DW_AT_data_bit_offset) ||
	    !next_of(member, &to))
		return 0;
	*out = (struct field){name_of(member), type_at(s, &to), offset};
	type = &s->types->all[out->type];
	return type_is_scalar(type) && type->size <= 8 &&
	       offset + type->size <= size;
}

/* Adds a field to the struct that is made.  Returns 0: out of memory. */
static int put_field(struct types *t, struct type *out,
		     const struct field *field)
{
	if (array_room(&t->fields, &t->cap_fields, t->n_fields + 1ull) < 0)
		return 0;
	t->fields[t->n_fields] = *field;
	t->fields[t->n_fields++].name = keep_name(t, field->name);
	out->n++;
	return 1;
}

/* Adds the member as a field; 0: the struct is not one that is shown. */
static int add_field(struct source *s, struct type *out, Dwarf_Die *die)
{
	struct field field;

	if (is_no_part(die))
		return 1;
	/* The types of fields have no fields, so these stay together. */
	return out->n < TYPE_FIELDS_MAX &&
	       field_of(s, die, out->size, &field) &&
	       put_field(s->types, out, &field);
}

static void set_struct(struct source *s, struct type *out, Dwarf_Die *die)
{
	int budget = MAX_CHILDREN;
	Dwarf_Die child;

	out->by_address = (uint8_t)is_by_address(out, die);
	if (set_library(s, out, die) || !out->size ||
	    out->size > TYPE_STRUCT_MAX ||
	    dwarf_hasattr(die, DW_AT_declaration))
		return;
	out->first = s->types->n_fields;
	out->kind = TYPE_STRUCT;
	if (dwarf_child(die, &child))
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inheritance ||
		    (tag == DW_TAG_member && !add_field(s, out, &child)) ||
		    !--budget) {
			out->kind = TYPE_OTHER;
			return;
		}
	} while (!dwarf_siblingof(&child, &child));
	if (!out->n)
		out->kind = TYPE_OTHER;
}

/* ---- any ------------------------------------------------------------------
 */

static void set_type(struct source *s, struct type *out, Dwarf_Die *die)
{
	*out = (struct type){.size = number_of(die, DW_AT_byte_size, 0)};
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		set_base(out, die);
		break;
	case DW_TAG_enumeration_type:
		set_enum(s->types, out, die);
		break;
	case DW_TAG_pointer_type:
		set_pointer(out, die);
		break;
	case DW_TAG_unspecified_type: /* decltype(nullptr) */
		out->kind = TYPE_POINTER;
		out->size = 8;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		set_reference(s, out, die);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		set_struct(s, out, die);
		break;
	case DW_TAG_union_type:
		out->by_address = out->size > 16;
		break;
	default:
		break;
	}
}

static uint32_t type_at(struct source *s, Dwarf_Die *die)
{
	struct types *t = s->types;
	uint64_t key = (uint64_t)(uintptr_t)die->addr ^ (uint64_t)s->file << 48;
	uint32_t *known = hashmap_get(&t->known, key), number;
	struct type type = {.kind = TYPE_OTHER};
	Dwarf_Die what;

	if (known)
		return *known;
	if (!peel(die, &what))
		return 0;
	if (s->depth < MAX_CHAIN) {
		s->depth++;
		set_type(s, &type, &what);
		s->depth--;
	}
	if (array_room(&t->all, &t->cap, t->n + 1ull) < 0)
		return 0;
	number = t->n++;
	t->all[number] = type;
	hashmap_put(&t->known, key, number);
	return number;
}

uint32_t types_of(struct types *t, Dwarf_Die *die, uint32_t file)
{
	struct source s = {t, file, 0};
	Dwarf_Die type;

	return next_of(die, &type) ? type_at(&s, &type) : 0;
}

/* The types of all members are made before the first field is put. */
static void set_members(struct source *s, struct type *out, Dwarf_Die *die)
{
	struct field found[TYPE_FIELDS_MAX];
	int budget = MAX_CHILDREN, n = 0;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return;
	do
		n += dwarf_tag(&child) == DW_TAG_member &&
		     !is_no_part(&child) &&
		     field_of(s, &child, TYPE_MEMBERS_MAX, &found[n]);
	while (n < TYPE_FIELDS_MAX && --budget &&
	       !dwarf_siblingof(&child, &child));
	out->first = s->types->n_fields;
	for (int i = 0; i < n && put_field(s->types, out, &found[i]); i++) {
		uint32_t end =
			found[i].offset + s->types->all[found[i].type].size;

		out->size = end > out->size ? end : out->size;
	}
}

uint32_t types_members(struct types *t, Dwarf_Die *die, uint32_t file)
{
	struct source s = {t, file, 0};
	struct type type = {.kind = TYPE_STRUCT, .by_address = 1};
	Dwarf_Die to, class;
	uint32_t *known;
	uint64_t key;

	if (!next_of(die, &to) || !peel(&to, &class) || !next_of(&class, &to) ||
	    !peel(&to, &class))
		return 0;
	/* No type begins at the second byte of one. */
	key = ((uint64_t)(uintptr_t) class.addr + 1) ^ (uint64_t)file << 48;
	known = hashmap_get(&t->known, key);
	if (known)
		return *known;
	set_members(&s, &type, &class);
	if (type.n && array_room(&t->all, &t->cap, t->n + 1ull) < 0)
		return 0;
	if (type.n)
		t->all[t->n] = type;
	hashmap_put(&t->known, key, type.n ? t->n : 0);
	return type.n ? t->n++ : 0;
}

int type_is_scalar(const struct type *t)
{
	return t->kind >= TYPE_INT && t->kind <= TYPE_TEXT;
}

int types_init(struct types *t)
{
	*t = (struct types){.names = arena_new()};
	if (!t->names || array_room(&t->all, &t->cap, 1) < 0)
		return CST_MEMORY;
	t->all[0].kind = TYPE_VOID;
	t->n = 1;
	return 0;
}

void types_release(struct types *t)
{
	free(t->all);
	free(t->fields);
	free(t->enumerators);
	hashmap_release(&t->known);
	arena_free(t->names);
	*t = (struct types){0};
}
