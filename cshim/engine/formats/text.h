/* SPDX-License-Identifier: MIT
 *
 * Writes a trace's tree as text rows: all of it, its last calls, or what lies
 * around one call.
 */
#ifndef ENGINE_TEXT_H
#define ENGINE_TEXT_H

#include "trace/loader.h"

/* Passes the rows to write().  With needs_rows the heading is written only if
 * there are rows.  Returns the number of rows of calls (of exceptions, if there
 * are no others), a negative status, or the negative number by which write()
 * ended it. */
int64_t text_write(const struct cst_trace *t, const struct cst_look *look,
		   const struct cst_choice *choice, int needs_rows,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
