/* SPDX-License-Identifier: MIT
 *
 * Memory that is freed all at once, and holds one copy of each string interned
 * in it.
 */
#ifndef ENGINE_ARENA_H
#define ENGINE_ARENA_H

#include <stddef.h>

struct arena;

/* Returns an empty arena, which the caller frees with arena_free(), or NULL
 * when out of memory. */
struct arena *arena_new(void);

/* Frees the arena with all memory and strings that came from it; a may be
 * NULL. */
void arena_free(struct arena *a);

/* Returns the arena's copy of the len bytes at text, with a NUL behind them;
 * equal strings give one pointer.  Returns NULL when out of memory. */
const char *arena_intern(struct arena *a, const char *text, size_t len);

#endif
