/* SPDX-License-Identifier: MIT
 *
 * The names of a trace: its functions and its call sites, numbered from 0 in
 * order of first use.  The recorder adds them as they become known, or the
 * loader reads them from the file.  Strings live in the table's arena until it
 * is freed; equal strings are one pointer.
 *
 * What was added or changed is dirty until the writer has written it.
 */
#ifndef ENGINE_NAMES_H
#define ENGINE_NAMES_H

#include "cstrace/engine.h"

#include <stddef.h>
#include <stdint.h>

/* The kinds of functions that are none, but stand for something else that the
 * program does; those of exceptions are as in enum cst_kind.  The numbers are
 * the file's. */
enum function_kind {
	KIND_FUNCTION = 0,
	KIND_UNCAUGHT = 6,   /* an exception that ends the program */
	KIND_HIDDEN = 7,     /* how it does so is the library's affair */
	KIND_SPAN = 8,	     /* a span; its name begins with "span " */
	KIND_MESSAGE = 9,    /* "log: " and a format of printf() */
	KIND_COUNT = 10,     /* "count " and a counter's name */
	KIND_ASYNC = 11,     /* "span " and a name: it may end in any thread */
	KIND_ASYNC_END = 12, /* "end of span " and its name */
	KIND_VETO = 13,	     /* what ends a call that a callback vetoed */
	/* "log: " and a template, or gdb's other words for what it adds; the
	 * text is its value */
	KIND_POINT = 14,
};

struct function {
	const char *name; /* demangled linkage name, or "app+0x1139"; until it
			   * is set, the address: never NULL */
	/* What people call it (simple.h): alone, with its parameters, with what
	 * stands behind those ("const"), too, with one scope more, with its
	 * namespaces; never NULL. */
	const char *simple, *parameters, *signature, *scoped, *qualified;
	const char *symbol; /* linkage name, or NULL */
	const char *module; /* file name of its object, or NULL */
	const char *file;   /* where it is defined, or NULL */
	uint64_t addr;
	uint32_t size;	   /* bytes of its symbol; 0: not known */
	uint32_t space;	   /* the address space of addr; 0: not known */
	uint8_t is_std;	   /* the C++ library's, or from a system header */
	uint8_t is_border; /* it is one, and is shown all the same */
	uint8_t is_dirty;  /* changed since the writer wrote it */
	uint8_t variant;   /* of a constructor or destructor: enum variant */
	uint8_t kind;	   /* enum function_kind, or of an exception */
	/* For an exception, the text of its what(), or NULL; symbol is then
	 * that of its type. */
	const char *message;
	const char *values; /* names of its values as value_list() takes them,
			       or NULL */
};

/* Returns whether f stands for what an exception does. */
static inline int function_is_exception(const struct function *f)
{
	return f->kind && f->kind <= KIND_HIDDEN;
}

/* Returns whether f stands for what takes no time: it is neither a function nor
 * a span. */
static inline int function_is_instant(const struct function *f)
{
	return f->kind && f->kind != KIND_SPAN;
}

/* Returns whether f is a message: the program's, or a logpoint's. */
static inline int function_has_text(const struct function *f)
{
	return f->kind == KIND_MESSAGE || f->kind == KIND_POINT;
}

/* Returns whether f is a message or a counter. */
static inline int function_is_message_or_counter(const struct function *f)
{
	return function_has_text(f) || f->kind == KIND_COUNT;
}

/* Returns whether f is the begin or the end of an asynchronous span. */
static inline int function_is_async(const struct function *f)
{
	return f->kind == KIND_ASYNC || f->kind == KIND_ASYNC_END;
}

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
	const char *path;  /* of a relative file, where known; else NULL */
	uint64_t caller;   /* return address; 0: not known */
	uint64_t hook;	   /* where the callee called its hook; likewise */
	uint32_t space;	   /* as in struct function */
	uint8_t is_dirty;
	uint8_t is_tail; /* by a jump: a tail call */
};

struct names {
	struct function *functions;
	uint32_t n_functions;
	struct call_site *sites;
	uint32_t n_sites;
	/* The numbers that the writer has still to write, each once. */
	uint32_t *dirty_functions, *dirty_sites;
	uint32_t n_dirty_functions, n_dirty_sites;
	/* private to names.c */
	uint32_t cap_functions, cap_sites;
	struct arena *arena;
	struct twins *twins; /* names that several functions have */
	struct marks *marks; /* calls with a colour; NULL: none has one */
};

/* Returns an empty table, or NULL when out of memory.  The caller frees it with
 * names_free(). */
struct names *names_new(void);

/* Frees n and all its strings; n may be NULL. */
void names_free(struct names *n);

/* Returns the one copy of text in the arena; NULL for NULL, or when out of
 * memory. */
const char *names_intern(struct names *n, const char *text);

/* Add a function at that address, or a call site of that function, with nothing
 * else known.  Return the new number, or UINT32_MAX when out of memory. */
uint32_t names_add_function(struct names *n, uint64_t addr);
uint32_t names_add_site(struct names *n, uint32_t function);

/* Sets what is known of a function and marks it dirty.  All strings are copied;
 * symbol, module and file may be NULL. is_std is worked out from name and file:
 * the name begins with std:: or __gnu_cxx:: (also behind the return type of a
 * template), or the file lies below /usr/include or in an include folder of gcc
 * or clang. */
void names_set_function(struct names *n, uint32_t id, const char *name,
			const char *symbol, const char *module,
			const char *file);

/* Returns whether f is the C++ library's, or from a system header, by what is
 * known of it. */
int names_is_std(const struct function *f);

/* The function is one that traced code calls in a library that is not traced:
 * it is shown, though is_std may follow from what is known of it. */
void names_set_border(struct names *n, uint32_t id);

/* An exception that is thrown or caught; symbol and message may be NULL. */
struct exception_name {
	const char *name, *symbol, *message;
	uint8_t kind;
};

/* Sets what is known of an exception's row and marks it dirty. */
void names_set_exception(struct names *n, uint32_t id,
			 const struct exception_name *e);

/* Sets what else than a function it is, and the names of its values (or NULL),
 * before names_set_function(). */
void names_set_kind(struct names *n, uint32_t id, enum function_kind kind,
		    const char *values);

/* Returns what a name of that kind (enum function_kind) begins with, "span ";
 * "" for a function. */
const char *names_kind_word(unsigned kind);
/* Returns the word that rows of a message (function_has_text()) begin with:
 * "log", or "zoom" or "backtrace" of what gdb adds. */
const char *names_said(const struct function *f);
/* Sets the names of a function's values and marks it dirty. */
void names_set_values(struct names *n, uint32_t id, const char *values);
/* Sets the names that its result has: an empty one, and those of its fields. */
void names_set_result(struct names *n, uint32_t id, const char *result);

/* Returns the name of f without the words that its kind begins with. */
const char *names_bare(const struct function *f);

/* Sets file (copied, or NULL) and line (0: not known) of a call site and marks
 * it dirty. */
void names_set_site(struct names *n, uint32_t id, const char *file,
		    uint32_t line);

/* Notes that a call site is that of a tail call, and marks it dirty. */
void names_set_tail(struct names *n, uint32_t id);

/* Sets the full path (copied, or NULL) of a call site's relative file.  It is
 * not written to trace files: it is this machine's. */
void names_set_path(struct names *n, uint32_t id, const char *path);

/* Returns where the type stands in the name of an exception's function, size
 * bytes of it; NULL: it has none. */
const char *names_thrown(const struct function *f, size_t *size);

/* Works out simple, signature and variant from a function's name and symbol,
 * which the caller has set. */
void names_settle(struct names *n, uint32_t id);

/* One more value beside enum cst_names: simple names, except where several
 * functions would have the same one, which have their full names. */
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

/* Set where a function or call site is in memory, so that it can be looked up
 * elsewhere.  They do not mark it dirty: they are called before its name is
 * known. */
void names_place_function(struct names *n, uint32_t id, uint32_t space);
void names_place_site(struct names *n, uint32_t id, uint32_t space,
		      uint64_t caller, uint64_t hook);

/* Sets how many bytes of code the function has, and does not make it dirty
 * either. */
void names_size_function(struct names *n, uint32_t id, uint64_t bytes);

/* Count the functions that are called and the sites that call them, without
 * what stands for exceptions. */
void names_count_called(const struct names *n, uint32_t *n_functions,
			uint32_t *n_sites);

/* Return whether something is missing that debug information could supply. */
int names_lacks_function(const struct names *n, uint32_t id);
int names_lacks_site(const struct names *n, uint32_t id);

/* names_clean() marks everything as written; names_dirty() marks everything as
 * not written (a new file begins). */
void names_clean(struct names *n);
void names_dirty(struct names *n);

/* Returns the word for a kind of exception row: "throw", "rethrow", "catch",
 * "uncaught", or "exception" for any other. */
const char *exception_word(uint8_t kind);

#endif
