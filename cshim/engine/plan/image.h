/* SPDX-License-Identifier: MIT
 *
 * The ELF file that is planned: its bytes by address, and a byte of marks for
 * each byte of its code.
 */
#ifndef ENGINE_PLAN_IMAGE_H
#define ENGINE_PLAN_IMAGE_H

#include "base/error.h"
#include "elf/elffile.h"

enum mark {
	MARK_CODE = 1,	   /* an instruction begins here */
	MARK_LEADER = 2,   /* something jumps here, or may do so */
	MARK_RETURN = 4,   /* a call returns here */
	MARK_ROW = 8,	   /* a line of the source begins here: gdb may stop,
			    * as where the code of an inlined call does */
	MARK_PADDING = 16, /* never executed */
	MARK_LOOP = 32,	   /* its own function jumps here */
	MARK_NAMED = 64,   /* it is called, or its address is taken */
	MARK_TAKEN = 128,  /* a patch writes this byte */
	MARK_LISTED = 128, /* while code is read: a table may lead here */
};

struct image_section {
	uint64_t start, end;
	const uint8_t *bytes;
	uint8_t is_code;    /* functions of the file's own */
	uint8_t is_linkage; /* the linker's stubs */
	uint8_t is_data;    /* may hold addresses of code */
};

struct image {
	struct elf_file file;
	struct image_section *sections; /* those with bytes, by address */
	uint32_t n_sections, cap_sections;
	uint64_t start, end;	       /* of what is loaded */
	uint64_t code_start, code_end; /* of sections that are code */
	uint8_t *marks;		       /* by address from code_start on */
	uint32_t *scopes; /* the like: which line and inlined call it is of */
	uint64_t entry;
	int is_fixed; /* linked to be at its own addresses: no PIE */
};

/* Opens the file at path.  Returns 0; CST_BAD_INPUT if it is no program or
 * library for x86-64, or CST_MEMORY.  image_close() in any case. */
int image_open(struct image *im, const char *path, struct cst_error *err);
void image_close(struct image *im);

/* Returns the section that addr is in, or NULL. */
const struct image_section *image_section_at(const struct image *im,
					     uint64_t addr);

/* Returns the bytes from addr on, and in *n how many there are; or NULL. */
const uint8_t *image_bytes(const struct image *im, uint64_t addr, uint64_t *n);

/* Returns whether addr is in a section of the file's own functions. */
int image_is_code(const struct image *im, uint64_t addr);

/* Returns the marks of addr, 0 outside of code. */
static inline uint8_t image_marks(const struct image *im, uint64_t addr)
{
	return addr >= im->code_start && addr < im->code_end
		       ? im->marks[addr - im->code_start]
		       : 0;
}

enum { SCOPE_LINE = 0xffff, SCOPE_CALL = ~SCOPE_LINE };

/* Returns which line the code at addr is of, and which innermost inlined call,
 * each a part of its number; 0: of none, or it is not known. */
static inline uint32_t image_scope(const struct image *im, uint64_t addr)
{
	return im->scopes && addr >= im->code_start && addr < im->code_end
		       ? im->scopes[addr - im->code_start]
		       : 0;
}

static inline void image_mark(struct image *im, uint64_t addr, unsigned marks)
{
	if (addr >= im->code_start && addr < im->code_end)
		im->marks[addr - im->code_start] |= (uint8_t)marks;
}

static inline void image_mark_all(struct image *im, uint64_t addr, uint64_t n,
				  unsigned marks)
{
	for (uint64_t i = 0; i < n; i++)
		image_mark(im, addr + i, marks);
}

static inline void image_unmark_all(struct image *im, uint64_t addr, uint64_t n,
				    unsigned marks)
{
	for (uint64_t i = addr; i < addr + n; i++)
		if (i >= im->code_start && i < im->code_end)
			im->marks[i - im->code_start] &= (uint8_t)~marks;
}

#endif
