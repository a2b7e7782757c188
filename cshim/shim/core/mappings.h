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

#endif
