/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a subcommand of the cstrace command is.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "tell.h"

/* The commands that have an option; a command has one of these bits, in the
 * order of the help (option_row_owner() names them by it). */
enum {
	FOR_RECORD = 1,
	FOR_LIVE = 2,
	FOR_SHOW = 4,
	FOR_LIST = 8,
	FOR_REPORT = 16,
	FOR_GRAPH = 32,
	FOR_SAVE = 64,
	FOR_INFO = 128,
	FOR_DIFF = 256,
	FOR_EXPECT = 512,
	FOR_CHECK = 1024,
	FOR_CALLS = 2048,
	FOR_SAMPLE = 4096,
	FOR_TOP = 8192,
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
	command_expect, command_check, command_graph, command_list,
	command_calls, command_sample, command_top;

#endif
