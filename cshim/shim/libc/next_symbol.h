/* SPDX-License-Identifier: MIT
 *
 * Finds the function that a call to one of the shim's was meant for, where it
 * is not libc's: a plugin may have one of its own, unseen by others, and there
 * may be several such plugins.
 */
#ifndef SHIM_NEXT_SYMBOL_H
#define SHIM_NEXT_SYMBOL_H

#include <stdint.h>

struct next {
	const char *name;
	const char *companions[3]; /* others of the same library, or 0 */
	/* A symbol of that library that a caller also uses, and is bound to by
	 * the time that it calls. */
	const char *neighbour;
	uint64_t ours;
	/* The library's own, if it was loaded with the program and everybody
	 * can see it: then no other can be meant, and it is never unloaded. */
	uint64_t found, found_companions[3];
	uint64_t code, code_size; /* the segment that holds it */
};

/* Sets n->found to the function that everybody sees, or to 0; called as the
 * program starts. */
void next_begin(struct next *n);

/* Returns the function that the caller (an address in its code) would be bound
 * to without the shim, in `found`; 0: there is none.  libc's functions that
 * look for symbols lock a lock that another thread may hold until this one has
 * finished (it waits for this one, in a constructor), so they are not used
 * here. */
struct next next_of(const struct next *n, const void *caller);

#endif
