/* SPDX-License-Identifier: MIT
 *
 * The separate debug files that gdb has found, by the path of the object file
 * that they belong to.
 */
#ifndef ENGINE_DEBUG_HINTS_H
#define ENGINE_DEBUG_HINTS_H

#include <stdint.h>

struct hints {
	struct hint *all;
	uint32_t n, cap;
};

void hints_release(struct hints *h);

/* Sets the debug file of that path, in place of an earlier one; both strings
 * are copied.  Returns 1, or 0 when out of memory. */
int hints_put(struct hints *h, const char *path, const char *debug_file);
/* Returns the debug file of that path, borrowed from h; NULL: it has none. */
const char *hints_get(const struct hints *h, const char *path);

/* Do two paths lead to one file?  gdb may have come to it by another one,
 * through a link. */
int hints_is_same(const char *a, const char *b);

#endif
