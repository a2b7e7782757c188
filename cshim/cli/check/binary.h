/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One object file through libbfd: what its debug information says of an
 * address, in whatever form libbfd can read and libdw cannot (stabs).  libbfd
 * keeps all that it ever read, a hundred times the size of the debug
 * information: the file is opened anew when that is much.
 */
#ifndef CLI_BINARY_H
#define CLI_BINARY_H

#include <stdint.h>

struct binary;

struct binary_answer {
	const char *function; /* linkage name; NULL where not known, as file */
	const char *file;
	uint32_t line; /* 0: not known */
};

/* Returns a reader for the file open at fd (which stays the caller's); path is
 * its name, beside which its separate debug file may lie.  NULL: out of
 * memory. */
struct binary *binary_new(const char *path, int fd);
void binary_free(struct binary *b);

/* Returns whether b is for the file that is open at fd. */
int binary_is_of(const struct binary *b, int fd);

/* Returns the path, once, if nothing was found for any question; else NULL. */
const char *binary_take_failure(struct binary *b);

/* Looks up addr, one of the file's own.  Returns 1 if something is known; *out
 * is valid until the next question. */
int binary_find(struct binary *b, uint64_t addr, struct binary_answer *out);

#endif
