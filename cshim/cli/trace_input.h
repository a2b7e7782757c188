/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands that read a trace share: opening it, writing to standard
 * output, and ending well when they are interrupted.
 */
#ifndef CLI_TRACE_INPUT_H
#define CLI_TRACE_INPUT_H

#include "cstrace/engine.h"
#include "options.h"

/* Loads the trace at path (input_path()), with the names that the options let
 * it find.  From then on Ctrl-C interrupts the engine, and a second one ends
 * the process.  The caller calls trace_input_close().  Returns NULL after it
 * has reported a failure. */
struct cst_trace *trace_input_open(const char *path, const struct options *o);
/* Prints on standard error what the trace lacks; call it before its rows. */
void trace_input_tell_losses(const struct cst_trace *t);
/* Sets, where the options do not, the choice that the trace was recorded with
 * (cst_trace_choice()), unless --all was given; and o->is_chosen. */
void trace_input_choose(const struct cst_trace *t, struct options *o);
/* Writes, behind the rows, notes on what was left out of them and why, and on
 * words of the user that mean no function.  Returns 0, or the negative number
 * that write() returned. */
int trace_input_note(const struct cst_trace *t, const struct options *o,
		     cst_write_fn write);
/* Prints on standard error what a saved file lacks because of the choice that
 * the trace was recorded with, and words of the user that mean no function. */
void trace_input_tell_note(const struct cst_trace *t, const struct options *o);
/* Prints which of the user's words mean no function, neither of the trace just
 * recorded nor of the program. */
void trace_input_tell_wrong(const struct cst_trace *t, const struct options *o,
			    const char *program);
/* Prints that there are no such calls, rows or the like (`what`), in the words
 * that gdb has.  Returns the exit code. */
int trace_input_tell_none(const struct cst_trace *t, const struct options *o,
			  const char *what);
/* Prints on standard error what cst_trace_announce() says, if anything. */
void trace_input_announce(const struct cst_trace *t, const char *path,
			  const char *format, const struct cst_choice *choice);
/* Frees the trace. */
void trace_input_close(struct cst_trace *t);

/* A cst_write_fn for standard output; arg is not used. */
int trace_input_write(void *arg, const char *text, uint64_t size);

/* Returns the exit code for a cst_trace_...() call that returned `result`,
 * after printing err if it failed: STATUS_USAGE for CST_BAD_INPUT, STATUS_OK if
 * only the reader of standard output is gone.  After Ctrl-C it ends the process
 * by SIGINT. */
int trace_input_end(int64_t result, const struct cst_error *err);

#endif
