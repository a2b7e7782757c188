/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a folder that uftrace's commands (replay, report, graph,
 * dump) read: for each lane a file with 16 bytes an entry or exit, and the
 * files with the names.  The layout is that of what uftrace itself writes.
 */
#ifndef ENGINE_UFTRACE_H
#define ENGINE_UFTRACE_H

#include "formats/folder.h"
#include "trace/loader.h"

/* How many levels a record has room for; deeper calls are left out. */
enum { UFTRACE_LEVELS = 1024 };

/* Writes the files of the folder, which the caller has opened and commits, and
 * sets its n_too_deep.  Ignores last, around and at of the choice.  Returns the
 * number of calls written, or a negative status. */
int64_t uftrace_write(const struct cst_trace *t,
		      const struct cst_choice *choice, struct folder *folder,
		      struct cst_error *err);

#endif
