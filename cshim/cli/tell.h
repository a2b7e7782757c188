/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command's exit codes, and its messages.
 */
#ifndef CLI_TELL_H
#define CLI_TELL_H

struct command;

/* Exit codes: 0; 1 for a failure, with one line on standard error; 2 for bad
 * usage. */
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* Prints one line on bad usage of c to standard error, in the format of
 * printf(), and returns STATUS_USAGE. */
int usage_error(const struct command *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints one line, "cstrace: ...", on a failure or for the user's attention to
 * standard error, and returns STATUS_FAILED. */
int failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
