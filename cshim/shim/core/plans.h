/* SPDX-License-Identifier: MIT
 *
 * The folder of plans that CSTRACE_PLANS names.  For an object's build-id, here
 * always that of buildid_of_plan(), it holds the plan, with ".plan", or an
 * empty file with ".none" if there is to be none.  Where it has neither, the
 * reader is asked by a line in the pipe "wanted" there, if somebody reads it.
 * A file "border" says that there are border plans (plan_layout.h), and one of
 * a build-id with ".traced" that its calls are meant.
 *
 * The functions share buffers: the program is starting, or the caller holds the
 * dynamic linker's lock.
 */
#ifndef SHIM_PLANS_H
#define SHIM_PLANS_H

#include <stdint.h>

/* Copies the folder's path, for the program may change its environment.
 * Returns 0 if it is too long. */
int plans_begin(const char *folder);

/* Returns the path of a file in the folder, valid until the next call here. */
const char *plans_path(const char *name, const char *ending);

/* Returns whether there are border plans. */
int plans_have_border(void);

/* Returns whether calls of the object with that build-id are meant, whatever is
 * patched of it. */
int plans_is_caller(const char *build_id);

/* Asks for a plan of the object whose first byte is at `first`, unless it is
 * there.  Returns whether there will be an answer. */
int plans_want(const char *build_id, uint64_t first, int is_program);

/* Returns the plan's file in memory, of *size bytes, or 0: there is none.  If
 * is_asked it waits for the answer, PLANS_WAIT_MS at most. */
enum { PLANS_WAIT_MS = 10000 };
uint64_t plans_map(const char *build_id, int is_asked, uint64_t *size);

/* Returns the path by which the kernel knows the file of the object with this
 * first byte, valid until the next call, or NULL. */
const char *plans_file_at(uint64_t first);

#endif
