/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds which word of a command line names a trace, and which file is read if
 * none does: the one that `cstrace record` writes.
 */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "options.h"

extern const char trace_file_default[]; /* "cstrace.cst" */

/* Returns whether the word is a call's ID: "1.42", "2:1.42" or "1.s1". */
int word_is_id(const char *word);

/* Returns whether the word can only be meant as a trace: it ends in .cst,
 * stands for standard input or a pipe, or is a file that begins as traces
 * do. */
int trace_file_is_meant(const char *word);

/* Adds the default to o's names if c reads a trace and one is missing among the
 * words, and puts a trace before what is looked for in it.  At most max_names
 * names are there afterwards; o->names[-1] and o->names[o->n_names] must be
 * writable. */
void trace_file_fill(const struct command *c, int max_names, struct options *o);

#endif
