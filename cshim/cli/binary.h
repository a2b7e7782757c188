/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One object file through libbfd: what its debug information has on an address,
 * in forms that libbfd can read and libdw cannot (stabs).  libbfd keeps all
 * that it ever read, a hundred times the size of the debug information, so the
 * file is opened anew when that is much.
 */
#ifndef CLI_BINARY_H
#define CLI_BINARY_H

#include <stdint.h>

struct binary;

struct binary_answer {
	const char *function; /* linkage name; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;	      /* 0: not known */
};

/* Returns a reader for the file open at fd, which it duplicates; path is its
 * name, beside which its separate debug file may lie.  The caller calls
 * binary_free().  NULL: out of memory or descriptors. */
struct binary *binary_new(const char *path, int fd);
void binary_free(struct binary *b);

/* Returns whether b is for the file that is open at fd. */
int binary_is_of(const struct binary *b, int fd);

/* Returns the path, which b owns, if there were questions since the last call
 * and a line was never found; else NULL. */
const char *binary_take_failure(struct binary *b);

/* Looks up addr, one of the file's own addresses.  Returns 1 if something is
 * known, else 0; *out is set in any case and valid until the next call. */
int binary_find(struct binary *b, uint64_t addr, struct binary_answer *out);

#endif
