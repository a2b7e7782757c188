/* SPDX-License-Identifier: MIT
 *
 * The function that a call to one of ours was meant for, where it is not
 * libc's: a plugin may have one of its own, unseen by the rest, and there may
 * be several such plugins.
 */
#ifndef SHIM_NEXT_SYMBOL_H
#define SHIM_NEXT_SYMBOL_H

#include <stdint.h>

struct next {
	const char *name;
	const char *companions[3]; /* others of the same library, or 0 */
	/* What a caller has from that library, too, and is bound to by the time
	 * that it calls. */
	const char *neighbour;
	uint64_t ours;
	/* Theirs, if it was loaded with the program and all can see it: nobody
	 * else's can be meant, and it is never unloaded. */
	uint64_t found, found_companions[3];
	uint64_t code, code_size; /* the segment that holds it */
};

/* Look for everybody's, as the program starts. */
void next_begin(struct next *n);

/* The one that the caller (an address in its code) would be bound to without
 * us; found is 0 if there is none.  libc's functions that look for symbols take
 * a lock that another thread may hold until this one is done (it waits for us,
 * in a constructor), so this does without. */
struct next next_of(const struct next *n, const void *caller);

#endif
