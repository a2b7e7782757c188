/* SPDX-License-Identifier: MIT
 *
 * The objects that the dynamic linker has loaded, in all its namespaces.
 */
#ifndef SHIM_ALL_OBJECTS_H
#define SHIM_ALL_OBJECTS_H

#include <link.h>

typedef int visit_object(struct dl_phdr_info *info, size_t size, void *arg);

/* Calls visit as dl_iterate_phdr() does, which knows those of the caller's
 * namespace only, and then for those of the others (dlmopen), unless the linker
 * is just changing one.  What visit returns counts for nothing.  The caller
 * holds the linker's lock, or is the only thread. */
void all_objects(visit_object *visit, void *arg);

/* Returns what the linker has for debuggers, or NULL. */
const struct r_debug *linkers_debug(void);

#endif
