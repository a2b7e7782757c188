/* SPDX-License-Identifier: MIT
 *
 * The functions of an image: what symbols and call frame information say, put
 * together.
 */
#ifndef ENGINE_PLAN_FUNCTIONS_H
#define ENGINE_PLAN_FUNCTIONS_H

#include "elf/insn.h"
#include "elf/symtab.h"
#include "plan/frames.h"
#include "plan/image.h"

enum { FUNCTION_NONE = UINT32_MAX, FUNCTION_MANY = UINT32_MAX - 1 };

struct plan_function {
	uint64_t start, end;
	const char *name;	   /* linkage name, borrowed; "": not known */
	const struct frame *frame; /* NULL: it has none */
	uint32_t whole;	       /* the function that it is a part of, as a rule
				  itself; FUNCTION_NONE: that is not known */
	uint8_t is_cold;       /* a part that was moved away: nobody calls it */
	uint8_t has_line;      /* a source line begins where it begins */
	uint8_t takes_vectors; /* parameters are in vector registers, perhaps */
	uint8_t has_table;     /* jumps through a table that was found */
	uint8_t has_label;     /* takes the address of a place inside itself */
	uint8_t has_lost_jump; /* jumps to where nobody can tell */
	uint8_t is_unreadable;
	uint8_t is_restartable;
	uint8_t is_assembler;
	uint8_t is_hooked;
	uint8_t is_chosen;
	uint8_t is_host;       /* another's landing lies in its entry */
	uint8_t ends_in_entry; /* its entry displaces an end, too */
	uint8_t ends_others;   /* its ends are those of what jumps to it, too */
	uint8_t ends_only;     /* ... and it has no entry, but calls of it are
				  seen elsewhere */
	uint8_t is_stub;       /* the linker's, for another file's function */
	uint8_t is_called;     /* ... that its entry calls, to see its end */
	uint8_t reason;	       /* enum cst_plan_reason */

	/* Filled in when its patches are placed: the instructions that its
	 * entry displaces; both 0: it has no entry. */
	uint64_t entry, entry_end;
	uint32_t placement; /* the index of its entry's */
	uint32_t number;    /* in the plan */
	uint32_t n_exits, n_missed;
};

/* An instruction that may end a call: a return, or a jump that may leave the
 * function. */
struct function_end {
	uint64_t addr;
	struct insn insn;
	uint32_t function; /* index */
};

struct functions {
	struct plan_function *all; /* by address; none overlaps another */
	uint32_t n, cap;
	struct function_end *ends; /* by address */
	uint32_t n_ends, cap_ends;
	struct symtab symbols, exports;
	struct elf_file debug; /* the separate debug file */
	int has_symbols;       /* a full table, not the exported names only */
	int is_bare;	       /* no debug information tells of their lines */
	uint32_t n_inlined; /* of its source, that have no code but in others */
	uint32_t n_lineless; /* not chosen, for others have lines */
};

/* Reads the functions of the image at path; debug_file as elf_file_open_debug()
 * takes it.  frames are borrowed until functions_release().  Returns 0 or
 * CST_MEMORY. */
int functions_init(struct functions *f, const struct image *im,
		   const struct frames *frames, const char *path,
		   const char *debug_file);
void functions_release(struct functions *f);

/* Adds one more, before the code is read.  Returns 0 or CST_MEMORY. */
int functions_add(struct functions *f, const struct plan_function *new);
/* Adds one, without a name, for each part of the code that is in none.  Returns
 * 0 or CST_MEMORY. */
int functions_add_gaps(struct functions *f, const struct image *im);
/* Orders them, behind the last one that was added. */
void functions_order(struct functions *f);

/* Returns the index of the function that addr is in, or FUNCTION_NONE. */
uint32_t functions_at(const struct functions *f, uint64_t addr);

#endif
