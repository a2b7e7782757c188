/* SPDX-License-Identifier: MIT
 *
 * Reports to a reader without gdb which files are mapped where.
 */
#ifndef SHIM_MAPPINGS_H
#define SHIM_MAPPINGS_H

#include "core/site.h"

/* The caller of each function holds the lock.  They do nothing unless the area
 * wants mappings. */

/* Reports all mappings of this process, which was just added to the area. */
void mappings_begin(void);
/* Called before a site is made: makes sure that the mapping of its code is
 * reported. */
void mappings_cover(const struct site_key *k);
/* Drops the sites in memory that was unmapped. */
void mappings_retire(void);

#endif
