/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cstrace command's subcommands, a file each.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* Exit codes: 0, 1 for a failure with one line told, 2 for bad usage. */
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

struct command {
	const char *name;
	const char *arguments; /* "FILE.cst [REGEX]", for the usage line */
	const char *summary;   /* one line */
	const char *details;   /* further help, or "" */
	/* argv[0] is "cstrace NAME"; returns an exit code. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_gdb, command_record, command_show,
	command_report, command_save, command_info, command_diff,
	command_expect;

/* Tell of bad usage in one line and return STATUS_USAGE. */
int usage_error(const struct command *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Tell of a failure in one line and return STATUS_FAILED. */
int failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
