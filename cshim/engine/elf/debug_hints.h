/* SPDX-License-Identifier: MIT
 *
 * The separate debug files that gdb told, by the object file they belong to.
 */
#ifndef ENGINE_DEBUG_HINTS_H
#define ENGINE_DEBUG_HINTS_H

#include <stdint.h>

struct hints {
	struct hint *all;
	uint32_t n, cap;
};

void hints_release(struct hints *h);

/* Take the place of what was told of that path.  0: out of memory. */
int hints_put(struct hints *h, const char *path, const char *debug_file);
/* Borrowed; NULL: none was told. */
const char *hints_get(const struct hints *h, const char *path);

/* Do two paths lead to one file?  gdb may have come to it by another one,
 * through a link. */
int hints_is_same(const char *a, const char *b);

#endif
