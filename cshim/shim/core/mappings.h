/* SPDX-License-Identifier: MIT
 *
 * Telling a reader without gdb what is mapped where.
 */
#ifndef SHIM_MAPPINGS_H
#define SHIM_MAPPINGS_H

#include "core/site.h"

/* All under the lock, and idle unless the area wants mappings. */

/* This process was just entered into the area. */
void mappings_begin(void);
/* A site is about to be made: is its code known? */
void mappings_cover(const struct site_key *k);
/* Something was unmapped: forget the sites that were in it. */
void mappings_retire(void);

#endif
