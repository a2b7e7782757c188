/* SPDX-License-Identifier: MIT
 *
 * Which names several functions have: overloads, and the variants of one
 * constructor or destructor.  Names are interned strings, told by their
 * addresses.
 */
#ifndef ENGINE_TWINS_H
#define ENGINE_TWINS_H

#include <stdint.h>

struct twin {
	const char *name;      /* NULL: a free slot */
	const char *signature; /* of the first function; or NULL */
	uint8_t is_shared;     /* and another one has another signature */
	uint8_t variants;      /* bits of enum variant */
};

struct twins {
	struct twin *all; /* a hash table of cap slots, a power of two */
	uint32_t n, cap;
};

void twins_release(struct twins *t);

/* A function has this name, and this signature unless that is NULL.  Without
 * memory it is forgotten: its name is then the same as the other's. */
void twins_add(struct twins *t, const char *name, const char *signature,
	       uint8_t variant);

int twins_is_shared(const struct twins *t, const char *name);
uint8_t twins_variants(const struct twins *t, const char *name);

#endif
