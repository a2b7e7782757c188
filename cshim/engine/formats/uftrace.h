/* SPDX-License-Identifier: MIT
 *
 * A trace as a folder that uftrace's commands (replay, report, graph, dump)
 * read: a file of 16 bytes an entry or exit for each lane, and what names the
 * rest.  Made after what uftrace itself writes.
 */
#ifndef ENGINE_UFTRACE_H
#define ENGINE_UFTRACE_H

#include "formats/folder.h"
#include "trace/loader.h"

/* A record has room for so many levels; deeper calls are left out. */
enum { UFTRACE_LEVELS = 1024 };

/* Returns the number of calls written. last and around of the choice do not
 * count. */
int64_t uftrace_write(const struct cst_trace *t,
		      const struct cst_choice *choice, struct folder *folder,
		      struct cst_error *err);

#endif
