/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that the user wants to trace, opened: what kind of file it is, and
 * what its headers and symbols say.  Addresses are libdwfl's, which lays the
 * sections of an object file out side by side.
 */
#ifndef CLI_CHECK_FILE_H
#define CLI_CHECK_FILE_H

#include "elf/zsections.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>

enum file_kind { FILE_PROGRAM, FILE_LIBRARY, FILE_OBJECT };

enum hook_supply {
	HOOKS_NONE,
	HOOKS_IMPORTED,
	HOOKS_OWN,     /* it defines them itself */
	HOOKS_SHIM,    /* libcstrace.so is among the libraries it needs */
	HOOKS_ARCHIVE, /* libcstrace.a is linked in */
};

enum { N_SANITIZERS = 5 };

struct check_file {
	const char *path; /* as the caller has it; borrowed */
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	struct zsections unpacked;
	GElf_Ehdr header;
	uint64_t bias; /* added to the addresses of elf */
	Dwarf *dwarf;  /* NULL: no debug information */
	Dwarf_Addr dwarf_bias;
	char debug_path[PATH_MAX]; /* the separate debug file, or "" */
	int n_symbols;

	enum file_kind kind;
	enum hook_supply hooks;
	int is_dynamic; /* it has an interpreter, or is a library */
	int is_pie;
	int is_stripped;
	int is_lto;	/* it has the compiler's own code (-flto) only */
	int loads_more; /* it calls dlopen */
	int has_words;	/* it uses cstrace.h, by the note that this leaves */
	int has_sanitizer[N_SANITIZERS];
};

/* Opens the file at path, with the debug information of debug_path if that
 * belongs to it (NULL: of what is installed here).  path is borrowed until
 * check_file_close(), which the caller calls in any case.  Returns 1; 0 if the
 * file cannot be traced, with the reason in *why (static text, or in f's own
 * buffer); or CST_FAILED with errno if it cannot be read. */
int check_file_open(struct check_file *f, const char *path,
		    const char *debug_path, const char **why);
void check_file_close(struct check_file *f);

/* A symbol with its address; its name has no version. */
struct check_symbol {
	char name[4096];
	GElf_Sym elf;
	uint64_t addr;
	int is_defined;
};
/* Sets *out to symbol i, below n_symbols.  Returns 1, or 0 if it has no name.
 */
int check_file_symbol(const struct check_file *f, int i,
		      struct check_symbol *out);

/* Returns the name of the sanitizer of has_sanitizer[i]; it is static. */
const char *check_sanitizer_name(int i);

#endif
