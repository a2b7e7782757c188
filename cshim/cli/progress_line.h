/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line on the terminal that says how far a long command has come.
 */
#ifndef CLI_PROGRESS_LINE_H
#define CLI_PROGRESS_LINE_H

/* Writes the line to standard error, if that is a terminal and the command has
 * written nothing by then, a second later; and keeps it up to date. */
void progress_line_begin(void);

/* Erases the line.  Call it before anything else is written; without a line it
 * does nothing. */
void progress_line_end(void);

#endif
