/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `cstrace record --patch` would make of a file.
 */
#ifndef CLI_CHECK_PLAN_H
#define CLI_CHECK_PLAN_H

#include "options.h"

/* Prints which functions of the file can be traced without hooks, and which not
 * and why; at most limit of them.  regex NULL: of all.  Returns an exit
 * status. */
int print_plan(const struct options *o, const char *regex, uint32_t limit);

#endif
