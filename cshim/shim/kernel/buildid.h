/* SPDX-License-Identifier: MIT
 *
 * Identifies a mapped object by what the linker wrote into its file and so into
 * memory.
 */
#ifndef SHIM_BUILDID_H
#define SHIM_BUILDID_H

#include <stdint.h>

enum { MAX_BUILD_ID = 64, BUILD_ID_TEXT = 2 * MAX_BUILD_ID + 18 };

/* Describes the object whose first byte is mapped at `start`: its build-id, a
 * space, and the address at which its own address 0 is, both in lower case
 * hexadecimal, NUL-terminated.  Writes "" if it has no build-id or cannot be
 * read.  The kernel reads the memory, so it may be unmapped meanwhile. */
void buildid_read(uint64_t start, char out[BUILD_ID_TEXT]);

/* Writes by which id plans know that object: its build-id, or if it has none
 * what cst_plan_id_more() makes of its headers (cstrace/plan_layout.h). */
void buildid_of_plan(uint64_t start, char out[BUILD_ID_TEXT]);

#endif
