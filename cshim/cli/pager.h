/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pager between standard output and a person: CSTRACE_PAGER, PAGER, or
 * less.  None where standard output is no terminal, or a dumb one.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdint.h>

/* A cst_write_fn as trace_input_write(), which starts the pager before the
 * first text: a failure that comes before it is told as it is. */
int pager_write(void *arg, const char *text, uint64_t size);

/* Whether pager_write() would start one. */
int pager_is_wanted(void);

/* No more text: wait until the pager was left. */
void pager_end(void);

#endif
