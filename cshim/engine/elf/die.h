/* SPDX-License-Identifier: MIT
 *
 * A DIE of the debug information.
 */
#ifndef ENGINE_DIE_H
#define ENGINE_DIE_H

#include <elfutils/libdw.h>

/* Returns a text that the DIE, or one that it is an instance of, has; or NULL.
 * It belongs to the debug information. */
static inline const char *die_text(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &a));
}

#endif
