/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of the names that were found, while it is being filled.
 */
#ifndef CLI_CHECK_TABLE_H
#define CLI_CHECK_TABLE_H

#include "check/check_names.h"

/* The index of the name with that key: a new one, its unit UINT32_MAX, where
 * there was none.  UINT32_MAX: out of memory. */
uint32_t check_names_put(struct check_names *n, const char *name,
			 const char *key);

/* No more names: drop those that nothing is to be told of, sort the others. */
void check_names_settle(struct check_names *n);

#endif
