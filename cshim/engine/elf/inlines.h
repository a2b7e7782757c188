/* SPDX-License-Identifier: MIT
 *
 * The inline tables (.debug_info) of one file: which inlined calls an address
 * lies in, and where those calls stand in the source.
 */
#ifndef ENGINE_INLINES_H
#define ENGINE_INLINES_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct inlines;

/* elf is borrowed for the table's life. NULL: no debug information. */
struct inlines *inlines_new(Elf *elf);
void inlines_free(struct inlines *in);

/* The full path of a file named as compiled (folders.h), or NULL. */
const char *inlines_path(struct inlines *in, const char *file);

/* The file's DWARF handle, for its .debug_frame. */
Dwarf *inlines_dwarf(struct inlines *in);

/* A function as the debug information knows it: the DIE that its out-of-line
 * copy and its inlined instances have in common. */
struct inline_function {
	Dwarf_Die die;
	int is_known;
	const char *symbol; /* its linkage name or NULL; borrowed */
};

/* Set die and is_known for the function that contains addr. */
void inlines_function(struct inlines *in, uint64_t addr,
		      struct inline_function *out);

/* Puts the DIE of the function that was compiled at addr, which has its frame,
 * into *out.  Returns 1, or 0 if none is known. */
int inlines_frame(struct inlines *in, uint64_t addr, Dwarf_Die *out);

/* The inlined calls at addr, outermost first; at most max. */
enum { INLINES_MAX = 64 };
int inlines_at(struct inlines *in, uint64_t addr, Dwarf_Die *out, int max);

/* What all instances of the function that one of inlines_at() calls have in
 * common. */
const void *inlines_origin(const Dwarf_Die *call);

/* Returns whether the function that one of inlines_at() calls has this name. */
int inlines_has_name(const Dwarf_Die *call, const char *name);

/* Is this one of inlines_at() an instance of f? */
int inlines_is_of(Dwarf_Die *call, const struct inline_function *f);

/* What follows tells files as compiled, valid until the next question. */

/* Where a call of inlines_at() stands.  0: it does not say. */
int inlines_line(struct inlines *in, Dwarf_Die *call, const char **file,
		 uint32_t *line);

/* The source line that addr is of.  1: found. */
int inlines_source(struct inlines *in, uint64_t addr, const char **file,
		   uint32_t *line);

/* The function that contains addr: its linkage name (or plain one), and the
 * file and line that define it; NULL and 0 where not known. */
void inlines_definition(struct inlines *in, uint64_t addr, const char **name,
			const char **file, uint32_t *line);

#endif
