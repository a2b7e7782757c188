/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fills the table of the names that were found.
 */
#ifndef CLI_CHECK_TABLE_H
#define CLI_CHECK_TABLE_H

#include "check/check_names.h"

/* Returns the index of the name with that key, after adding a copy of both,
 * with unit UINT32_MAX, if there is none.  Returns UINT32_MAX when out of
 * memory. */
uint32_t check_names_put(struct check_names *n, const char *name,
			 const char *key);

/* Ends the filling: drops the names of which nothing can be reported, and sorts
 * the others. */
void check_names_settle(struct check_names *n);

#endif
