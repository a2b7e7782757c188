/* SPDX-License-Identifier: MIT
 *
 * What is mapped where, as the kernel says it.  Async-signal-safe.
 */
#ifndef SHIM_MAPS_H
#define SHIM_MAPS_H

#include <stdint.h>

enum { MAPS_BUFFER_SIZE = 8192 };

struct maps {
	int fd;
	uint32_t at, size; /* in the buffer */
	char buffer[MAPS_BUFFER_SIZE];
};

struct maps_entry {
	uint64_t start, end, offset, inode;
	const char *path; /* in the line; "" if there is none */
};

/* Returns 0 or more, or a negative errno. */
int maps_open(struct maps *m);
void maps_close(struct maps *m);

/* Returns the next line, NUL-ended and valid until the next call, or NULL. */
char *maps_next(struct maps *m);

/* Returns 1 if the line is of executable memory, else 0. */
int maps_parse(const char *line, struct maps_entry *out);

#endif
