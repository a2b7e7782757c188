/* SPDX-License-Identifier: MIT
 *
 * Which names several functions have: overloads, and the variants of one
 * constructor or destructor.  Names are interned strings, told by their
 * addresses.
 */
#ifndef ENGINE_TWINS_H
#define ENGINE_TWINS_H

#include <stdint.h>

/* In what functions of one name differ. */
enum shared {
	SHARED_NOT = 0,
	SHARED_BY_OVERLOADS = 1,  /* in their signatures */
	SHARED_BY_NAMESPACES = 2, /* in their qualified names */
	SHARED_BY_INSTANCES = 4,  /* in their full names */
};

struct twin {
	const char *name; /* NULL: a free slot */
	/* Of the first function; or NULL. */
	const char *signature, *qualified, *full;
	uint8_t shared;	  /* bits of enum shared */
	uint8_t variants; /* bits of enum variant */
};

struct twins {
	struct twin *all; /* a hash table of cap slots, a power of two */
	uint32_t n, cap;
};

void twins_release(struct twins *t);

/* What a function that has the name is called otherwise; NULL and 0: not to be
 * compared. */
struct called {
	const char *signature, *qualified, *full;
	uint8_t variant;
};

/* A function has this name.  Without memory it is forgotten: its name is then
 * the same as the other's. */
void twins_add(struct twins *t, const char *name, const struct called *called);

/* Returns bits of enum shared. */
uint8_t twins_shared(const struct twins *t, const char *name);
uint8_t twins_variants(const struct twins *t, const char *name);

#endif
