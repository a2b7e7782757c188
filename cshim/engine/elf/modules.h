/* SPDX-License-Identifier: MIT
 *
 * The object files of the traced process: where they are mapped, and what
 * their symbol tables, call frame information (.eh_frame) and inline tables
 * say of an address.  Read with libelf and libdw from the files on disk, each
 * opened when first asked for.  Never downloads anything.
 */
#ifndef ENGINE_MODULES_H
#define ENGINE_MODULES_H

#include "base/error.h"
#include "elf/debugfile.h"

struct modules;

struct modules *modules_new(void); /* NULL: out of memory */
/* Those of another address space: files that both have are opened once.  The
 * first ones must not be asked after these are freed, nor the other way. */
struct modules *modules_new_beside(struct modules *first);
void modules_free(struct modules *m);

/* Read what is mapped now from /proc/PID/maps (files with an executable
 * mapping).  What is known and still there stays open. */
int modules_refresh(struct modules *m, uint32_t pid, struct cst_error *err);
/* Take one line of that text, which process pid read itself: changed on the
 * way; and what is known of its object, likewise (layout.h), or "".  *start to
 * *end: addresses that others had before; *end 0: none. */
int modules_map(struct modules *m, uint32_t pid, char *line, char *object,
		uint64_t *start, uint64_t *end);
/* Forget what lies in [start, end). */
void modules_unmap(struct modules *m, uint64_t start, uint64_t end);
/* A module as it was told, its file being the one at path now, whatever it was
 * then: also a separate debug file.  0: that cannot be read. */
struct module_note;
int modules_add_file(struct modules *m, const struct module_note *note,
		     const char *path);

/* One that was not told yet to this listener: writers count from 1. */
struct module_note {
	const char *path; /* borrowed */
	char build_id[BUILD_ID_SIZE];
	uint64_t start, end; /* of its code */
	uint64_t bias;	     /* from the file's addresses; 0: not known */
};

/* Tell those that are looked into already, or (all) every one, each once for
 * a writer. */
void modules_tell(struct modules *m, uint32_t writer, int all,
		  void (*tell)(void *arg, const struct module_note *note),
		  void *arg);

/* The next file that was written to since it was mapped, before we looked into
 * it; borrowed.  NULL: no more. */
const char *modules_next_change(struct modules *m);

/* The separate debug file of the module with this path. */
void modules_debug_file(struct modules *m, const char *path,
			const char *debug_file);

/* Is anything known to be mapped at addr? */
int modules_has(struct modules *m, uint64_t addr);
/* A number that the code at addr has wherever its file is mapped, in all
 * address spaces; 0: not known. */
uint64_t modules_place(struct modules *m, uint64_t addr);
/* The number of the file in such a place. */
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

/* What is known of one address in code. */
struct code {
	uint64_t function;    /* start of the physical function that holds it (a
			       * .cold part counts to its parent), or 0 */
	uint8_t cfa_base;     /* enum cfa_base */
	uint8_t is_outermost; /* its CFI says that nobody called it: where a
			       * stack begins */
	uint8_t is_signal;    /* ... or the kernel, for a signal handler */
	uint8_t is_bare;      /* it alone has no CFI: written by hand */
	uint8_t is_part;      /* function is but a part, of an unknown one */
	int32_t cfa_offset;
};

/* For pc = a return address - 1. */
void modules_code(struct modules *m, uint64_t pc, struct code *out);

/* 0: no call instruction stands before this return address, it was made up. */
int modules_is_return(struct modules *m, uint64_t addr);

struct symbol {
	const char *symbol; /* linkage name or NULL; borrowed from the module */
	uint64_t offset;    /* of addr from the symbol's start */
	const char *module; /* file name without folders, or NULL */
	uint64_t module_offset; /* of addr in the object, as in "app+0x1139" */
	uint64_t start, end; /* of the symbol, in the process; end 0: no size */
};

/* 1: a symbol contains addr; 0: none does (module may be set all the same). */
int modules_symbol(struct modules *m, uint64_t addr, struct symbol *out);

/* Calls hear for the linkage name of each function of the file that addr lies
 * in. */
void modules_functions(struct modules *m, uint64_t addr,
		       void (*hear)(void *arg, const char *symbol), void *arg);

/* The source line that pc is of: file as compiled, borrowed from the module.
 * 1: found. */
int modules_line(struct modules *m, uint64_t pc, const char **file,
		 uint32_t *line);
/* The name (linkage name, if it has one) and file of the function that
 * contains addr, as its debug information knows them; NULL where not known.
 * Borrowed until the next question. */
void modules_definition(struct modules *m, uint64_t addr, const char **name,
			const char **file);

/* Does addr lie in a file with debug information that is not for us to read? */
int modules_is_foreign(struct modules *m, uint64_t addr);

/* The file that addr lies in; what it holds is borrowed. */
struct module_file {
	const char *path;
	uint64_t addr; /* in the file's own addresses */
	int fd;
};

int modules_file(struct modules *m, uint64_t addr, struct module_file *out);

/* Where an inlined call stands. */
struct inline_call {
	const char *file; /* as compiled, borrowed from the module; or NULL */
	uint32_t line;
	/* The inlined calls around it and itself, outermost first: what they
	 * are is not said, only which are the same. */
	uint64_t scopes[64];
	uint64_t origins[64]; /* the same for all instances of a function */
	int n_scopes;
};

/* The innermost instance of `callee` (0: of any function) that is inlined at pc
 * (the hook's return address - 1), from the inline tables.  1: found, 0: pc is
 * not in one. */
int modules_inline_call(struct modules *m, uint64_t pc, uint64_t callee,
			struct inline_call *out);

/* Is the code at pc another function's than callee?  Then callee was inlined
 * there, even if no table tells of it (code of two calls made one, or there is
 * no debug information).  Without symbols a part that was split off its
 * function is taken for another one. */
int modules_is_inlined(struct modules *m, uint64_t pc, uint64_t callee);

#endif
