/* SPDX-License-Identifier: MIT
 *
 * The text of /proc/PID/maps, and a walk over its executable file mappings.
 */
#ifndef ENGINE_MAPS_H
#define ENGINE_MAPS_H

#include "base/error.h"

struct maps {
	char *text; /* NUL-terminated */
	uint64_t size, capacity;
};

/* One executable mapping of a file. */
struct mapping {
	uint64_t start, end, offset, inode;
	const char *path; /* borrowed from the text, without "(deleted)" */
	int is_deleted;
	const char *build_id; /* hex, borrowed; NULL: not known */
	uint64_t zero; /* if build_id is known: where the file's address 0 is */
};

/* Has the file nothing but a name, as a JIT's code in memory may have? */
int maps_is_memory(const char *path);

/* Read anew; the buffer is kept from one time to the next. */
int maps_read(struct maps *m, uint32_t pid, struct cst_error *err);
void maps_release(struct maps *m);

/* The next one behind *at, which begins as 0 and is moved on; the text is cut
 * into strings on the way.  0: no more. */
int maps_next(struct maps *m, uint64_t *at, struct mapping *out);

/* One line without its newline, cut likewise.  0: it is not such a mapping. */
int maps_parse(char *line, struct mapping *out);

/* Parses the text of cst_mapping.object (layout.h) into build_id and zero of
 * *out; text is cut up, and *out borrows it. */
void maps_parse_object(char *text, struct mapping *out);

#endif
