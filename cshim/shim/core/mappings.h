/* SPDX-License-Identifier: MIT
 *
 * Logs for a reader without gdb which files are mapped where (struct
 * cst_mapping).
 */
#ifndef SHIM_MAPPINGS_H
#define SHIM_MAPPINGS_H

#include "core/site.h"

/* The caller of each function holds the lock.  They do nothing unless the area
 * wants mappings. */

/* Logs all mappings of this process, which was just added to the area. */
void mappings_begin(void);
/* Makes sure that the mapping of a site's code is logged; called before the
 * site is made. */
void mappings_cover(struct site_key k);
/* Drops the sites in memory that was unmapped. */
void mappings_retire(void);

/* Sets *low and *high to where the stack is that holds the address `within` (0:
 * the main thread's), with what it may grow into.  Returns 0, or -1 if that is
 * not known.  Unlike the others it looks in any case. */
int mappings_stack(uint64_t within, uint64_t *low, uint64_t *high);

#endif
