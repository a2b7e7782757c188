/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pager between standard output and the user: CSTRACE_PAGER, PAGER, or less.
 * There is none where standard output is no terminal, or a dumb one.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdint.h>

/* A cst_write_fn for standard output, which starts the pager before the first
 * text, so that an earlier failure is reported without one. */
int pager_write(void *arg, const char *text, uint64_t size);

/* Returns the terminal's columns, or 0 where a pager shows what is beyond, or
 * where there is no terminal. */
uint32_t pager_width(int no_pager);

/* Closes the pipe to the pager, and waits until the user quits the pager; does
 * nothing if none was started.  Standard output leads nowhere afterwards. */
void pager_end(void);

#endif
