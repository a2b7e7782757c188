/* SPDX-License-Identifier: MIT
 *
 * The line tables of one file's debug information: source files and lines as
 * gdb tells them.  They are read through a handle of their own, which is
 * opened anew once it holds many of them: libdw never lets go of a table, and
 * those of a large program come to more than all else here.
 */
#ifndef ENGINE_LINES_H
#define ENGINE_LINES_H

#include "base/hashmap.h"

#include <elfutils/libdw.h>
#include <stdint.h>

struct lines {
	Dwarf *trees;  /* borrowed: whose units and DIEs are asked for */
	Dwarf *tables; /* NULL: not open */
	size_t n_rows; /* of the tables that were read */
	struct hashmap read;
};

void lines_init(struct lines *l, Dwarf *trees);
void lines_release(struct lines *l);

/* What follows returns 1 when it is known.  *file is as compiled, and valid
 * until the next question. */

/* The line of addr, which lies in the unit whose DIE is at that offset. */
int lines_at(struct lines *l, Dwarf_Off unit, uint64_t addr, const char **file,
	     uint32_t *line);

/* The file that an attribute of die, or of its origin, numbers:
 * DW_AT_call_file or DW_AT_decl_file. */
int lines_file(struct lines *l, Dwarf_Die *die, unsigned attribute,
	       const char **file);

#endif
