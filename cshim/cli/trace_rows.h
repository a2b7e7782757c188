/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands that print rows of a trace (show, calls, report, graph) do
 * before the rows and after them.
 */
#ifndef CLI_TRACE_ROWS_H
#define CLI_TRACE_ROWS_H

#include "cstrace/engine.h"
#include "options.h"

/* Opens the first file that the user named, sets the choice that the options
 * leave open, and prints what the trace lacks.  Returns NULL after it has
 * reported a failure; else the caller calls trace_rows_end(). */
struct cst_trace *trace_rows_begin(struct options *o);
/* After the rows: n is the number that a cst_trace_...() call returned, with
 * err set if it is negative; write is the function that the rows went to, and
 * what ("calls") their kind.  Writes the notes, ends the pager, says so if
 * there were no rows, and frees the trace.  Returns the exit code. */
int trace_rows_end(struct cst_trace *t, const struct options *o, int64_t n,
		   cst_write_fn write, const char *what,
		   const struct cst_error *err);

#endif
