/* SPDX-License-Identifier: MIT
 *
 * The object files of the traced process: where they are mapped, and what their
 * symbol tables, call frame information (.eh_frame) and inline tables say about
 * an address.  They are read with libelf and libdw from the files on disk, each
 * opened when it is first needed.  Nothing is ever downloaded.
 */
#ifndef ENGINE_MODULES_H
#define ENGINE_MODULES_H

#include "base/error.h"
#include "elf/debugfile.h"

struct modules;

/* Returns an empty one, or NULL when out of memory. */
struct modules *modules_new(void);
/* Returns an empty one for another address space, or NULL when out of memory;
 * files that both have are opened once.  `first` must not be used after the new
 * one is freed, nor the other way. */
struct modules *modules_new_beside(struct modules *first);

/* Frees m, which may be NULL. */
void modules_free(struct modules *m);

/* Reads what process pid has mapped now from /proc/PID/maps (files with an
 * executable mapping). Files that are still there stay open.  Returns 0 or a
 * negative status. */
int modules_refresh(struct modules *m, uint32_t pid, struct cst_error *err);
/* Adds one line of that text, which process pid has read itself, and what it
 * knows of the object (layout.h), or "". Both are changed.  *start to *end are
 * addresses that others had before; *end is 0 if there are none. */
int modules_map(struct modules *m, uint32_t pid, char *line, char *object,
		uint64_t *start, uint64_t *end);
/* Removes what lies in [start, end). */
void modules_unmap(struct modules *m, uint64_t start, uint64_t end);
/* Adds a module as modules_tell() reported it, but its file is the one at path,
 * whatever it was then: it may also be a separate debug file.  Returns 1, or 0
 * if that cannot be read. */
struct module_note;
int modules_add_file(struct modules *m, const struct module_note *note,
		     const char *path);

/* A module as it is reported; writers count from 1. */
struct module_note {
	const char *path; /* borrowed */
	char build_id[BUILD_ID_SIZE];
	uint64_t start, end; /* of its code */
	uint64_t bias;	     /* from the file's addresses; 0: not known */
};

/* Calls tell for the modules that are in use, or (all) for each, once for each
 * writer. */
void modules_tell(struct modules *m, uint32_t writer, int all,
		  void (*tell)(void *arg, const struct module_note *note),
		  void *arg);

/* Returns the next file, borrowed, that was written to after it was mapped and
 * before it was read; NULL if there are no more. */
const char *modules_next_change(struct modules *m);

/* Sets the separate debug file of the module with this path. */
void modules_debug_file(struct modules *m, const char *path,
			const char *debug_file);

/* Says that the file at path has this build-id: it is read in place of a mapped
 * one of that build-id that is not there. */
void modules_copy(struct modules *m, const char *build_id, const char *path);

/* Returns whether anything is known to be mapped at addr. */
int modules_has(struct modules *m, uint64_t addr);
/* Returns where the first code above addr is mapped; 0: there is none. */
uint64_t modules_next(const struct modules *m, uint64_t addr);
/* Returns a number that the code at addr has wherever its file is mapped, in
 * all address spaces; 0 if it is not known. */
uint64_t modules_place(struct modules *m, uint64_t addr);
/* Returns the number of the file in such a place. */
static inline uint32_t modules_number(uint64_t place)
{
	return (uint32_t)(place >> 40);
}

/* How to find the frame's CFA from a record's stack and frame pointer. */
enum cfa_base {
	CFA_UNKNOWN = 0, /* no CFI: use the stack pointer itself */
	CFA_SP = 1,	 /* sp + offset */
	CFA_FP = 2,	 /* fp + offset */
	/* The true CFA lies in memory (realigned stack): fp + offset is only
	 * a stand-in that is the same all through the frame. */
	CFA_FP_NEAR = 3,
};

/* Where the caller's frame pointer is. */
enum fp_rule {
	FP_SAME = 0,   /* still in its register */
	FP_AT_CFA = 1, /* in memory, at the CFA + offset */
	FP_AT_FP = 2,  /* at this frame's frame pointer + offset */
	FP_LOST = 3,
};

/* What is known of one address in code. */
struct code {
	uint64_t function;    /* start of the physical function that holds it (a
			       * .cold part counts to its parent), or 0 */
	uint8_t cfa_base;     /* enum cfa_base */
	uint8_t is_outermost; /* its CFI says that nobody called it: where a
			       * stack begins */
	uint8_t is_signal;    /* ... or that the kernel called it, for a signal
				 handler */
	uint8_t is_bare;      /* it alone has no CFI: written by hand */
	uint8_t is_part;      /* function is but a part, of an unknown one */
	uint8_t fp_rule;      /* enum fp_rule */
	int32_t cfa_offset;
	int32_t cfa_at; /* of CFA_FP_NEAR: the true one is read at fp + this */
	int32_t fp_offset;
};

/* Sets *out to what is known of the code at pc, a return address - 1. */
void modules_code(struct modules *m, uint64_t pc, struct code *out);

/* Returns 0 if no call instruction stands before addr: it is no return
 * address. */
int modules_is_return(struct modules *m, uint64_t addr);
/* Returns where the direct call leads to that returns to addr, or 0: no such
 * call stands there. */
uint64_t modules_called(struct modules *m, uint64_t addr);

struct symbol {
	const char *symbol; /* linkage name or NULL; borrowed from the module */
	uint64_t offset;    /* of addr from the symbol's start */
	const char *module; /* file name without folders, or NULL */
	uint64_t module_offset; /* of addr in the object, as in "app+0x1139" */
	uint64_t start, end; /* of the symbol, in the process; end 0: no size */
	int is_stub;	     /* the linker's, for another file's function */
};

/* Looks for the symbol that contains addr.  Returns 1, or 0 if none does
 * (module may be set all the same). */
int modules_symbol(struct modules *m, uint64_t addr, struct symbol *out);

/* Returns whether a form (forms.h) of the function of that linkage name begins
 * at addr, or goes on there. */
int modules_is_form(struct modules *m, uint64_t addr, const char *name);

/* Returns the name, without folders, of a file that exports a function of that
 * linkage name, but not the shim; NULL: none is known.  It is borrowed. */
const char *modules_exporter(struct modules *m, const char *symbol);

/* Looks likewise for what a pointer to addr may mean: a function that begins
 * there (*is_function is 1 then), or a variable that contains it, which is of
 * the file that was mapped last below it; out->module is NULL then.  Addresses
 * where nothing is, as on the heap, are quick. */
int modules_pointee(struct modules *m, uint64_t addr, struct symbol *out,
		    int *is_function);
/* Returns 1 if modules_pointee() is known to find nothing there. */
int modules_is_void(const struct modules *m, uint64_t addr);

/* Calls hear with the linkage name of each function of the file that addr lies
 * in. */
void modules_functions(struct modules *m, uint64_t addr,
		       void (*hear)(void *arg, const char *symbol), void *arg);

/* Copies n bytes of the code at pc to out, as its file has them.  Returns 1, or
 * 0 if they cannot be read. */
int modules_bytes(struct modules *m, uint64_t pc, void *out, size_t n);

/* Finds the source line of pc; *file is as compiled, borrowed from the module.
 * Returns 1 if it is found, else 0. */
int modules_line(struct modules *m, uint64_t pc, const char **file,
		 uint32_t *line);
/* Finds the name (the linkage name, if it has one), file and line of the
 * function that contains addr, as its debug information has them; NULL and 0
 * where not known.  The strings are borrowed until the next call. */
void modules_definition(struct modules *m, uint64_t addr, const char **name,
			const char **file, uint32_t *line);

/* Returns the full path of a source file of the code at addr, which debug
 * information names by that relative path; NULL: not known, or not here.  It is
 * borrowed from the module. */
const char *modules_path(struct modules *m, uint64_t addr, const char *file);

/* Returns whether the debug information of the file that addr lies in was read
 * already. */
int modules_is_read(struct modules *m, uint64_t addr);

/* Returns whether addr lies in a file whose debug information this library
 * cannot read. */
int modules_is_foreign(struct modules *m, uint64_t addr);

/* The file that addr lies in; what it holds is borrowed. */
struct module_file {
	const char *path;
	uint64_t addr; /* in the file's own addresses */
	int fd;
};

/* Returns 1 with the file in *out, or 0 if it is not known. */
int modules_file(struct modules *m, uint64_t addr, struct module_file *out);

/* Returns the debug information of the file that addr lies in, borrowed, and
 * addr's place in it; or NULL. */
struct inlines;
struct inlines *modules_inlines(struct modules *m, uint64_t addr,
				uint64_t *inside);

/* Where an inlined call stands. */
struct inline_call {
	const char *file; /* as compiled, borrowed from the module; or NULL */
	uint32_t line;
	/* The inlined calls around it and itself, outermost first, as numbers
	 * that can only be compared. */
	uint64_t scopes[64];
	uint64_t origins[64]; /* the same for all instances of a function */
	int n_scopes;
};

/* Looks in the inline tables for the innermost instance of `callee` (0: of any
 * function) that is inlined at pc (the hook's return address - 1). Returns 1,
 * or 0 if pc is not in one. */
int modules_inline_call(struct modules *m, uint64_t pc, uint64_t callee,
			struct inline_call *out);

/* Looks for the innermost instance of a function without this name, which is
 * that of a helper; else as modules_inline_call(). */
int modules_inline_call_around(struct modules *m, uint64_t pc,
			       const char *helper, struct inline_call *out);

/* Returns whether the code at pc belongs to another function than callee.  Then
 * callee was inlined there, even if no table says so (code of two calls was
 * merged, or there is no debug information). Without symbols a part that was
 * split off its function counts as another one. */
int modules_is_inlined(struct modules *m, uint64_t pc, uint64_t callee);

#endif
