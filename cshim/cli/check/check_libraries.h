/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The libraries that a file needs, and those that they need in turn, where the
 * loader would find them.
 */
#ifndef CLI_CHECK_LIBRARIES_H
#define CLI_CHECK_LIBRARIES_H

#include <stdint.h>

struct library {
	char *name; /* by which another file needs it */
	char *path; /* NULL: not found */
	int has_hooks, is_shim, is_libc;
};

struct libraries {
	struct library *all;
	uint32_t n, capacity;
	char *musl; /* the path of musl, if that is the file's loader; or NULL
		     */
};

/* Finds the libraries of the file at path; there are none if it cannot be read.
 * Returns 1, or 0 when out of memory; release l in any case. */
int libraries_init(struct libraries *l, const char *path);
void libraries_release(struct libraries *l);

/* Returns the first library that exports a function of that name, or NULL. */
const struct library *libraries_owner(const struct libraries *l,
				      const char *symbol);

#endif
