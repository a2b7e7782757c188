/* SPDX-License-Identifier: MIT
 *
 * The names of a trace: its functions and its call sites, numbered from 0 in
 * order of first use.  Filled by the recorder as names become known, or by
 * the loader from the file.  Strings live in the table's arena until it is
 * freed; equal strings are one pointer.
 */
#ifndef ENGINE_NAMES_H
#define ENGINE_NAMES_H

#include "cstrace/engine.h"

#include <stddef.h>
#include <stdint.h>

/* Beside those of enum cst_kind. */
enum exception_kind {
	EXCEPTION_UNCAUGHT = 6, /* it ends the program */
	EXCEPTION_HIDDEN = 7,	/* how it does so is the library's affair */
};

struct function {
	const char *name; /* demangled linkage name, or "app+0x1139"; until it
			   * is set, the address: never NULL */
	/* What people call it (simple.h): alone, with its parameters, with what
	 * stands behind those ("const"), too, with its namespaces; never NULL.
	 */
	const char *simple, *parameters, *signature, *qualified;
	const char *symbol; /* linkage name, or NULL */
	const char *module; /* file name of its object, or NULL */
	const char *file;   /* where it is defined, or NULL */
	uint64_t addr;
	uint32_t space;	  /* the address space that addr is of; 0: not known */
	uint8_t is_std;	  /* the C++ library's, or from a system header */
	uint8_t is_dirty; /* changed since the writer wrote it */
	uint8_t variant;  /* of a constructor or destructor: enum variant */
	/* Not a function but what an exception does there: enum cst_kind, or
	 * one of those below.  The symbol is its type's, and the message what
	 * it says, or NULL. */
	uint8_t exception;
	const char *message;
};

/* One constructor or destructor may be several functions of one name. */
enum variant {
	VARIANT_NONE = 0,
	VARIANT_COMPLETE = 1,
	VARIANT_BASE = 2, /* of an object within another */
	VARIANT_DELETING = 4,
};

/* Where a function is called from. */
struct call_site {
	uint32_t function; /* the callee */
	uint32_t line;	   /* 0: not known */
	const char *file;  /* as compiled, or NULL */
	uint64_t caller;   /* return address; 0: not known */
	uint64_t hook;	   /* where the callee called its hook; likewise */
	uint32_t space;	   /* as in struct function */
	uint8_t is_dirty;
};

struct names {
	struct function *functions;
	uint32_t n_functions;
	struct call_site *sites;
	uint32_t n_sites;
	/* What the writer has still to write, each number once. */
	uint32_t *dirty_functions, *dirty_sites;
	uint32_t n_dirty_functions, n_dirty_sites;
	/* private to names.c */
	uint32_t cap_functions, cap_sites;
	struct arena *arena;
	struct twins *twins; /* names that several functions have */
};

struct names *names_new(void); /* NULL: out of memory */
void names_free(struct names *n);

/* The one copy of text in the arena (NULL stays NULL). */
const char *names_intern(struct names *n, const char *text);

/* Return the new number, or UINT32_MAX: out of memory. New ones are dirty. */
uint32_t names_add_function(struct names *n, uint64_t addr);
uint32_t names_add_site(struct names *n, uint32_t function);

/* Set what is known and mark it dirty.  All strings are copied; symbol, module
 * and file may be NULL.  is_std is worked out from name and file:
 * "std::..." or "__gnu_cxx::..." (also behind a return type of a template's
 * demangled name), or defined below /usr/include or a gcc/clang include
 * folder. */
void names_set_function(struct names *n, uint32_t id, const char *name,
			const char *symbol, const char *module,
			const char *file);
/* An exception that is thrown or caught; symbol and message may be NULL. */
struct exception_name {
	const char *name, *symbol, *message;
	uint8_t kind;
};

void names_set_exception(struct names *n, uint32_t id,
			 const struct exception_name *e);
void names_set_site(struct names *n, uint32_t id, const char *file,
		    uint32_t line);

/* Returns where the type stands in the name of an exception's function, size
 * bytes of it; NULL: it has none. */
const char *names_thrown(const struct function *f, size_t *size);

/* Works out simple, signature and variant from a function's name and symbol,
 * which the caller has set. */
void names_settle(struct names *n, uint32_t id);

/* Beside enum cst_names: simple names, but the full one where several functions
 * would have the same. */
enum { NAMES_DISTINCT = 2 };

/* Returns NAMES_DISTINCT for CST_NAMES_SIMPLE, else how. */
static inline int names_distinct(int how)
{
	return how == CST_NAMES_SIMPLE ? NAMES_DISTINCT : how;
}

/* Returns how rows call a function: its simple name, with its parameters or its
 * namespaces where another function has that simple name, or its full one (how:
 * enum cst_names, NAMES_DISTINCT).
 * *mark is put behind it: which variant of a destructor it is, where there are
 * several, or "". */
const char *names_shown(const struct names *n, uint32_t id, int how,
			const char **mark);

/* Where they are in memory, by which they can be looked up elsewhere.  Does
 * not make them dirty: it is told before their names are known. */
void names_place_function(struct names *n, uint32_t id, uint32_t space);
void names_place_site(struct names *n, uint32_t id, uint32_t space,
		      uint64_t caller, uint64_t hook);

/* Is something missing that debug information could tell? */
int names_lacks_function(const struct names *n, uint32_t id);
int names_lacks_site(const struct names *n, uint32_t id);

/* All that is dirty was written; nothing was (a new file). */
void names_clean(struct names *n);
void names_dirty(struct names *n);

/* Returns the word for a kind of exception row: "throw", "rethrow", "catch",
 * "uncaught", or "exception" for any other. */
const char *exception_word(uint8_t kind);

#endif
