/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What may stand in a condition on values.
 */
#ifndef CLI_COMPLETE_WHERE_H
#define CLI_COMPLETE_WHERE_H

/* Prints a line, as complete_print() does, for each way in which the condition
 * could go on by the name of a function or a value.  The trace is one of the
 * n_words words, else the one that is read by default; prints nothing without
 * one. */
void complete_where(const char *text, char **words, int n_words);

#endif
