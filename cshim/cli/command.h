/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cstrace command's subcommands, a file each.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* Exit codes: 0; 1 for a failure, with one line on standard error; 2 for bad
 * usage. */
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* The commands that have an option; a command has one of these bits. */
enum {
	FOR_SHOW = 1,
	FOR_REPORT = 2,
	FOR_SAVE = 4,
	FOR_INFO = 8,
	FOR_RECORD = 16,
	FOR_DIFF = 32,
	FOR_EXPECT = 64,
	FOR_CHECK = 128,
	FOR_GRAPH = 256,
	FOR_LIVE = 512,
	FOR_LIST = 1024,
	FOR_RUN = FOR_RECORD | FOR_LIVE, /* those that run a program */
};

/* What an argument is, for completion. */
enum takes {
	TAKES_WORD = 0, /* any word: nothing is offered */
	TAKES_TRACE,
	TAKES_FILE,
	TAKES_PROGRAM, /* a program, and its arguments behind it */
	TAKES_GDB      /* the arguments of gdb */
};

enum { MAX_TAKES = 2 };

struct command {
	const char *name;
	const char *arguments; /* "[OPTION...] FILE.cst", for the usage line */
	const char *summary;   /* one line */
	const char *details;   /* further help, or "" */
	const char *examples;  /* lines without "cstrace ", or NULL */
	unsigned options;      /* FOR_..., 0: it has none of option_rows */
	enum takes takes[MAX_TAKES]; /* its first arguments */
	/* argv[0] is "cstrace NAME"; returns an exit code. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_gdb, command_record, command_live,
	command_show, command_report, command_save, command_info, command_diff,
	command_expect, command_check, command_graph, command_list;

/* All commands, in the order of the help; NULL stands behind the last. */
extern const struct command *const commands[];

/* Returns the command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Prints one line on bad usage of c to standard error, in the format of
 * printf(), and returns STATUS_USAGE. */
int usage_error(const struct command *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints one line, "cstrace: ...", on a failure or for the user's attention to
 * standard error, and returns STATUS_FAILED. */
int failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
