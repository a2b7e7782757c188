/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands that read a trace share: opening it, writing to standard
 * output, and ending well when they are interrupted.
 */
#ifndef CLI_TRACE_INPUT_H
#define CLI_TRACE_INPUT_H

#include "cstrace/engine.h"
#include "options.h"

/* Loads the trace, with the names that the options let it find; Ctrl-C
 * interrupts what is done with it.  Returns NULL after it has reported a
 * failure. */
struct cst_trace *trace_input_open(const char *path, const struct options *o);
/* Prints what is missing from the trace; called before its rows. */
void trace_input_tell_losses(const struct cst_trace *t);
/* Sets, where the options do not, what the trace was recorded to show. */
void trace_input_choose(const struct cst_trace *t, struct options *o);
/* Writes, behind the rows, what was left out of them and why, if anything was.
 * Returns what write returns. */
int trace_input_note(const struct cst_trace *t, const struct options *o,
		     cst_write_fn write);
/* Prints what is hidden in a saved file, unless the command's own options hide
 * it. */
void trace_input_tell_note(const struct cst_trace *t, const struct options *o);
/* Prints which of the user's words mean no function, neither of the trace just
 * recorded nor of the program. */
void trace_input_tell_wrong(const struct cst_trace *t, const struct options *o,
			    const char *program);
/* Prints that there are no such calls, rows or the like (`what`), in the words
 * that gdb has.  Returns the exit code. */
int trace_input_tell_none(const struct cst_trace *t, const struct options *o,
			  const char *what);
/* Prints how much will be written, if it is much. */
void trace_input_announce(const struct cst_trace *t, const char *path,
			  const char *format, const struct cst_choice *choice);
/* Frees the trace. */
void trace_input_close(struct cst_trace *t);

/* A cst_write_fn for standard output. */
int trace_input_write(void *arg, const char *text, uint64_t size);

/* Returns the exit code for a cst_trace_...() call that returned `result`,
 * after printing what failed, if anything did. */
int trace_input_end(int64_t result, const struct cst_error *err);

#endif
