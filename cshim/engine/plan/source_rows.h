/* SPDX-License-Identifier: MIT
 *
 * Where the lines of the source begin, as a debugger stops at them, and what is
 * written in assembler.
 */
#ifndef ENGINE_PLAN_SOURCE_ROWS_H
#define ENGINE_PLAN_SOURCE_ROWS_H

#include "plan/functions.h"

/* Marks the rows of all line tables, for gdb also where code of inlined calls
 * begins and ends and what it is, and sets has_line and is_assembler of the
 * functions.  Returns 1 if there is debug information, 0 if not; -1: out of
 * memory. */
int source_rows_mark(struct image *im, struct functions *f, int is_for_gdb);

#endif
