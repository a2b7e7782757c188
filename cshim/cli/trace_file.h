/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which word of a command line names a trace, and which file is read where
 * none does: the one that `cstrace record` leaves.
 */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "options.h"

extern const char trace_file_default[]; /* "cstrace.cst" */

/* Whether the word can only be meant as a trace: it ends in .cst, stands for
 * standard input or a pipe, or is a file that begins as traces do. */
int trace_file_is_meant(const char *word);

/* Add the default to o's names where c reads a trace and the words leave one
 * out.  At most max_names names are there afterwards; o->names[-1] must be
 * writable, and so must o->names[o->n_names]. */
void trace_file_fill(const struct command *c, int max_names, struct options *o);

#endif
