/* SPDX-License-Identifier: MIT
 *
 * The names of functions that files have from others.
 */
#ifndef ENGINE_PLAN_IMPORTS_H
#define ENGINE_PLAN_IMPORTS_H

#include <stdint.h>

struct imports {
	char **names; /* sorted, each once */
	uint32_t n, cap;
};

/* Reads what the n ELF files at paths import, and none of them has; one that
 * cannot be read imports nothing.  Returns 0 or CST_MEMORY; imports_release()
 * in any case. */
int imports_init(struct imports *out, const char *const *paths, uint32_t n);
void imports_release(struct imports *i);

/* Adds a name, copied.  Returns 0 or CST_MEMORY.  Behind the last one,
 * imports_order() makes them ready for imports_has(). */
int imports_add(struct imports *out, const char *name);
void imports_order(struct imports *i);

/* Removes from one what the other has. */
void imports_drop(struct imports *from, const struct imports *others);
/* Keeps of one only what the other has. */
void imports_keep(struct imports *from, const struct imports *others);

int imports_has(const struct imports *i, const char *name);

#endif
