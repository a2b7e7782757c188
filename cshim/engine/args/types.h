/* SPDX-License-Identifier: MIT
 *
 * Types of the debug information, as far as values of them are shown.
 */
#ifndef ENGINE_TYPES_H
#define ENGINE_TYPES_H

#include "base/arena.h"
#include "base/hashmap.h"

#include <elfutils/libdw.h>
#include <stdint.h>

enum type_kind {
	TYPE_OTHER = 0, /* not shown by its value */
	TYPE_VOID,
	TYPE_INT,
	TYPE_UINT,
	TYPE_BOOL,
	TYPE_CHAR,
	TYPE_FLOAT,
	TYPE_ENUM,
	TYPE_POINTER,
	TYPE_TEXT,	/* a pointer to char */
	TYPE_REFERENCE, /* to its target */
	TYPE_STRUCT,	/* small, of scalars and texts */
	/* Classes of the C++ library. */
	TYPE_STRING,
	TYPE_VIEW,	   /* the length first */
	TYPE_VIEW_BY_TEXT, /* the text first */
	TYPE_VECTOR,	   /* of elements of its target */
	TYPE_OWNER,	   /* unique_ptr and the like */
};

struct field {
	const char *name;
	uint32_t type;
	uint32_t offset;
};

struct enumerator {
	const char *name;
	int64_t value;
};

struct type {
	uint8_t kind; /* enum type_kind */
	uint8_t is_signed;
	uint8_t is_flags;   /* an enum whose values are of single bits */
	uint8_t by_address; /* an argument or result that lies in memory */
	uint32_t size;	    /* bytes; 0: not known */
	uint32_t target;    /* TYPE_REFERENCE, TYPE_VECTOR */
	uint32_t first, n;  /* of the fields, or the enumerators */
};

struct types {
	struct type *all; /* all[0]: TYPE_VOID */
	struct field *fields;
	struct enumerator *enumerators;
	uint32_t n, n_fields, n_enumerators;
	/* private */
	uint32_t cap, cap_fields, cap_enumerators;
	struct arena *names;
	struct hashmap known; /* by their DIEs */
};

enum { TYPE_FIELDS_MAX = 4, TYPE_STRUCT_MAX = 32, TYPE_MEMBERS_MAX = 64 };

/* Prepares t.  Returns 0, or CST_MEMORY; release it in any case. */
int types_init(struct types *t);
void types_release(struct types *t);

/* Returns the number of the type that the attribute DW_AT_type of die names; 0,
 * void, if it has none.  `file` is a number that tells die's file from others.
 */
uint32_t types_of(struct types *t, Dwarf_Die *die, uint32_t file);

/* Returns the number of a struct of the first members that can be shown, up to
 * TYPE_FIELDS_MAX in the first TYPE_MEMBERS_MAX bytes, of the class that the
 * pointer die leads to; 0: there are none. */
uint32_t types_members(struct types *t, Dwarf_Die *die, uint32_t file);

/* Is a value of the type one number in a register? */
int type_is_scalar(const struct type *t);

#endif
