/* SPDX-License-Identifier: MIT
 *
 * The folders that the compiler was run in: a source file that debug
 * information names by a relative path lies below one of them.
 */
#ifndef ENGINE_FOLDERS_H
#define ENGINE_FOLDERS_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct folders {
	/* private */
	const char **all; /* each once; the strings are libdw's */
	uint32_t n, cap;
	struct folders_path *known;
	uint32_t n_known, cap_known;
	int is_read;
};

/* Frees the memory of f and zeroes it. */
void folders_release(struct folders *f);

/* Returns the full path of a file named as compiled: the one that is there
 * below a folder of dwarf's units.  NULL: none is there, or several are and no
 * unit, or more than one, is compiled from that file.  f owns the string. */
const char *folders_path(struct folders *f, Dwarf *dwarf, const char *file);

#endif
