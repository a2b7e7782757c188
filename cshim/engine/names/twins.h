/* SPDX-License-Identifier: MIT
 *
 * Which names several functions have: overloads, and the variants of one
 * constructor or destructor.  Names are interned strings, compared by their
 * addresses.
 */
#ifndef ENGINE_TWINS_H
#define ENGINE_TWINS_H

#include "base/hashmap.h"

#include <stdint.h>

/* How functions that share a name differ. */
enum shared {
	SHARED_NOT = 0,
	SHARED_BY_OVERLOADS = 1,  /* in their signatures */
	SHARED_BY_NAMESPACES = 2, /* in their qualified names */
	SHARED_BY_INSTANCES = 4,  /* in their full names */
};

struct twin {
	/* The first function's other names, or NULL. */
	const char *signature, *qualified, *full;
	uint8_t shared;	  /* bits of enum shared */
	uint8_t variants; /* bits of enum variant */
};

struct twins {
	struct twin *all;
	uint32_t n, cap;
	struct hashmap by_name; /* a name's address to its index in all */
};

/* Frees the memory of t, which may be NULL. A zeroed struct twins is empty. */
void twins_release(struct twins *t);

/* The other names and the variant of a function that has the name; NULL and 0
 * are not compared. */
struct called {
	const char *signature, *qualified, *full;
	uint8_t variant;
};

/* Adds a function of this name.  When out of memory it is not added, and rows
 * show its name like those of the others. */
void twins_add(struct twins *t, const char *name, const struct called *called);

/* Return bits of enum shared, or of enum variant, of all functions that have
 * the name. */
uint8_t twins_shared(const struct twins *t, const char *name);
uint8_t twins_variants(const struct twins *t, const char *name);

#endif
