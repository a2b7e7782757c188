/* SPDX-License-Identifier: MIT
 *
 * Memory that is freed all at once, and the one copy of each string in it.
 */
#ifndef ENGINE_ARENA_H
#define ENGINE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void); /* NULL: out of memory */
void arena_free(struct arena *a);

/* Aligned for any type, valid until arena_free(). NULL: out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/* The arena's copy of the len bytes at text, with a NUL behind; equal strings
 * give one pointer. NULL: out of memory. */
const char *arena_intern(struct arena *a, const char *text, size_t len);

#endif
