/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands that read a trace share: opening it, writing to standard
 * output, and ending well when they are interrupted.
 */
#ifndef CLI_TRACE_INPUT_H
#define CLI_TRACE_INPUT_H

#include "cstrace/engine.h"
#include "options.h"

/* Load the trace, with the names that the options let us find; Ctrl-C
 * interrupts what is done with it.  NULL: told. */
struct cst_trace *trace_input_open(const char *path, const struct options *o);
/* Before rows of it: what is not among them. */
void trace_input_tell_losses(const struct cst_trace *t);
/* What the trace was recorded to show, where the options do not say. */
void trace_input_choose(const struct cst_trace *t, struct options *o);
/* Behind the rows: what was left out of them, and why, where there is any.
 * As the write function returns. */
int trace_input_note(const struct cst_trace *t, const struct options *o,
		     cst_write_fn write);
/* Says what is hidden in a saved file, where the command's own words do not. */
void trace_input_tell_note(const struct cst_trace *t, const struct options *o);
/* Says which words of the user's no function is meant by, neither one of the
 * trace just recorded nor another of the program's. */
void trace_input_tell_wrong(const struct cst_trace *t, const struct options *o,
			    const char *program);
/* Says that there are no such calls, rows or the like (`what`), in gdb's words.
 * Returns the exit code. */
int trace_input_tell_none(const struct cst_trace *t, const struct options *o,
			  const char *what);
/* Before much is written: how much it will be. */
void trace_input_announce(const struct cst_trace *t, const char *path,
			  const char *format, const struct cst_choice *choice);
void trace_input_close(struct cst_trace *t);

/* A cst_write_fn for standard output. */
int trace_input_write(void *arg, const char *text, uint64_t size);

/* The exit code of a cst_trace_... call that returned result: tells what went
 * wrong, if anything did. */
int trace_input_end(int64_t result, const struct cst_error *err);

#endif
