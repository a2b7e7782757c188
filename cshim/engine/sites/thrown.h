/* SPDX-License-Identifier: MIT
 *
 * Functions that stand for exceptions in a trace.
 */
#ifndef ENGINE_THROWN_H
#define ENGINE_THROWN_H

#include "sites/sites.h"

/* Returns the ID of the function in n that stands for e, which is added if it
 * is new.  UINT32_MAX: there is no memory, or there are too many. */
uint32_t thrown_function(struct exceptions *x, struct names *n,
			 const struct exception_name *e);

#endif
